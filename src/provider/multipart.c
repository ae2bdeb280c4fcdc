/* multipart.c - write a multipart/form-data body */
#include "provider/multipart.h"

#include <string.h>

void multipart_init(struct multipart *m, struct buf *out, size_t try)
{
    static const char *const boundaries[MULTIPART_TRIES] = {
        "allm-form-5f0c2b7d9e3a41c8", "allm-form-a19d64c07be2538f",
        "allm-form-38e6f1b25c9047ad", "allm-form-c7420e9fd518b36a",
        "allm-form-0b93d7a6e45f12c8", "allm-form-6ea5170c39b8f4d2",
        "allm-form-94f2c86d01a7be35", "allm-form-d3715be8f60c9a24",
    };
    *m = (struct multipart){ out, boundaries[try], 0 };
}

static void part_begin(struct multipart *m, const char *name)
{
    buf_text(m->out, "--");
    buf_text(m->out, m->boundary);
    buf_text(m->out, "\r\ncontent-disposition: form-data; name=\"");
    buf_text(m->out, name);
    buf_text(m->out, "\"");
    m->count++;
}

void multipart_text(struct multipart *m, const char *name, struct slice value)
{
    part_begin(m, name);
    buf_text(m->out, "\r\n\r\n");
    buf_add(m->out, value);
    buf_text(m->out, "\r\n");
}

void multipart_file(struct multipart *m, const char *name, const char *file,
                    const char *type, struct slice bytes)
{
    part_begin(m, name);
    buf_text(m->out, "; filename=\"");
    buf_text(m->out, file);
    buf_text(m->out, "\"\r\ncontent-type: ");
    buf_text(m->out, type);
    buf_text(m->out, "\r\n\r\n");
    buf_add(m->out, bytes);
    buf_text(m->out, "\r\n");
}

/* How often the body contains the boundary. */
static size_t count_boundaries(const struct multipart *m)
{
    size_t n = 0;
    struct slice rest = buf_slice(m->out);
    struct slice word = slice_of(m->boundary);
    const char *at;
    while (rest.len && (at = memchr(rest.ptr, *word.ptr, rest.len))) {
        rest = slice_skip(rest, (size_t)(at - rest.ptr));
        n += slice_starts(rest, word);
        rest = slice_skip(rest, 1);
    }
    return n;
}

bool multipart_end(struct multipart *m)
{
    buf_text(m->out, "--");
    buf_text(m->out, m->boundary);
    buf_text(m->out, "--\r\n");
    return m->out->broken || count_boundaries(m) == m->count + 1;
}
