/*
 * read_file.c - the tool read_file: numbered lines of a file
 *
 *      file --64 KiB--> skip lines | show lines | count lines
 *
 * Only the lines that are shown are kept, so a file may have any size.
 */
#include "toolbox/builtin.h"
#include "toolbox/filetype.h"
#include "toolbox/lines.h"
#include "toolbox/picture.h"

#include <errno.h>
#include <unistd.h>

enum { LIMIT = 2000, COLUMNS = 2000, CHUNK = 64 * 1024,
       LINE_MOST = 4 * COLUMNS };

struct reading {
    struct builtin_call *call;
    uint64_t first, end;        /* lines to show: first <= n < end */
    uint64_t line;              /* the current one, from 1 */
    struct buf text;            /* of the current line, if it is shown */
    size_t more;                /* characters of it that are left out */
    bool open;                  /* the current line has bytes */
};

static bool is_shown(const struct reading *r)
{
    return r->line >= r->first && r->line < r->end;
}

/* Bytes of a line that is shown. */
static void add_piece(struct reading *r, struct slice piece)
{
    size_t room = LINE_MOST + 4 - r->text.len;
    size_t n = piece.len < room ? piece.len : room;
    buf_add(&r->text, (struct slice){ piece.ptr, n });
    for (size_t i = n; i < piece.len; i++)      /* not those that continue */
        r->more += ((unsigned char)piece.ptr[i] & 0xC0) != 0x80;
}

static void end_line(struct reading *r)
{
    struct buf *out = &r->call->out;
    struct slice text = buf_slice(&r->text);
    if (is_shown(r)) {
        size_t before = out->len;
        buf_format(out, "%6llu\t", (unsigned long long)r->line);
        lines_add(out, r->more ? text : lines_bare(text), COLUMNS);
        if (r->more)
            buf_format(out, " [and %zu more]", r->more);
        buf_byte(out, '\n');
        if (out->len > BUILTIN_OUT && before) {     /* it begins the rest */
            out->len = before;
            r->end = r->line;
        }
    }
    buf_clear(&r->text);
    r->more = 0;
    r->open = false;
    r->line++;
}

/* Lines before or after those that are shown: count them. */
static struct slice skip_lines(struct reading *r, struct slice bytes)
{
    size_t ends = lines_ends(bytes);
    if (r->line >= r->end || r->line + ends < r->first) {
        r->line += ends;
        r->open = bytes.ptr[bytes.len - 1] != '\n' || (r->open && !ends);
        return slice_skip(bytes, bytes.len);
    }
    for (; r->line < r->first; r->line++)
        slice_take(&bytes, '\n');
    r->open = false;
    return bytes;
}

static void add_bytes(struct reading *r, struct slice bytes)
{
    while (bytes.len) {
        if (!is_shown(r)) {
            bytes = skip_lines(r, bytes);
            continue;
        }
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = end ? (size_t)(end - bytes.ptr) : bytes.len;
        add_piece(r, (struct slice){ bytes.ptr, len });
        r->open = true;
        if (end)
            end_line(r);
        bytes = slice_skip(bytes, end ? len + 1 : len);
    }
}

static void finish_reading(struct reading *r, uint64_t size)
{
    struct builtin_call *c = r->call;
    if (r->open)
        end_line(r);
    uint64_t lines = r->line - 1;
    if (r->first > lines && size) {
        builtin_fail(c, "%s has %llu lines, so there is no line %llu",
                     builtin_text(c, "path", ""), (unsigned long long)lines,
                     (unsigned long long)r->first);
        return;
    }
    if (!size)
        buf_text(&c->out, "[the file is empty]\n");
    else if (lines >= r->end)
        buf_format(&c->out, "[%llu more lines; continue with offset %llu]\n",
                   (unsigned long long)lines - r->end + 1,
                   (unsigned long long)r->end);
    builtin_answer(c);
}

/* The image that begins with these bytes; NULL: models cannot see it. */
static const allm_json *read_image(struct builtin_call *c, int fd,
                                   struct slice start)
{
    struct pictures p;
    ssize_t n = 1;
    struct buf bytes = buf_in(&c->arena, PICTURE_MOST + CHUNK);
    pictures_init(&p, &c->arena);
    buf_add(&bytes, start);
    while (n > 0 && bytes.len <= PICTURE_MOST && buf_reserve(&bytes, CHUNK)) {
        n = read(fd, bytes.ptr + bytes.len, CHUNK);
        bytes.len += n > 0 ? (size_t)n : 0;
    }
    if (n || bytes.broken || !pictures_add(&p, buf_slice(&bytes)))
        return NULL;
    return pictures_done(&p);
}

static void show_image(struct builtin_call *c, int fd, struct slice start,
                       const char *type)
{
    const allm_json *image = read_image(c, fd, start);
    buf_format(&c->out, "[%s is an image: %s%s]\n", builtin_text(c, "path", ""),
               type, image ? "" : ", too large to be shown");
    builtin_answer_with(c, image);
}

static void describe_binary(struct builtin_call *c, const char *type,
                            const struct stat *st)
{
    buf_format(&c->out, "[%s is not text: %s, %lld bytes]\n",
               builtin_text(c, "path", ""), type, (long long)st->st_size);
    builtin_answer(c);
}

static void read_lines(struct builtin_call *c, int fd, struct stat *st)
{
    struct reading r = { .call = c, .line = 1 };
    char *chunk = arena_alloc(&c->arena, CHUNK);
    ssize_t n = chunk ? read(fd, chunk, CHUNK) : 0;
    struct slice start = { chunk, n > 0 ? (size_t)n : 0 };
    const char *type = filetype_of(start);
    if (filetype_image(type)) {
        show_image(c, fd, start, type);
        return;
    }
    if (start.len && strcmp(type, "text/plain") != 0) {
        describe_binary(c, type, st);
        return;
    }
    r.first = builtin_number(c, "offset", 1);
    r.end = r.first + builtin_number(c, "limit", LIMIT);
    buf_init(&r.text, &c->arena, LINE_MOST + 16);
    bool any = n > 0;
    while (n > 0 && !builtin_stopped(c)) {
        add_bytes(&r, (struct slice){ chunk, (size_t)n });
        n = read(fd, chunk, CHUNK);
    }
    if (n < 0)
        builtin_path_fault(c, builtin_text(c, "path", ""), errno);
    else
        finish_reading(&r, any);
}

void read_file_run(struct builtin_call *c)
{
    const char *path = builtin_text(c, "path", "");
    struct stat st;
    int fd, error = root_open_file(&c->root, path, &fd, &st);
    if (error) {
        builtin_path_fault(c, path, error);
        return;
    }
    read_lines(c, fd, &st);
    close(fd);
}
