/*
 * fuzz_skeleton.c - lines of any text: a skeleton reads each line to the same
 * value as the plain reader
 */
#include "base/buf.h"
#include "json/parse.h"
#include "json/skeleton.h"
#include "json/write.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void same(struct arena *a, const allm_json *v, const allm_json *w)
{
    struct buf x, y;
    buf_init(&x, a, SIZE_MAX / 2);
    buf_init(&y, a, SIZE_MAX / 2);
    demand(json_write(&x, v, 0) && json_write(&y, w, 0));
    demand(slice_eq(buf_slice(&x), buf_slice(&y)));
    demand(allm_json_equal(v, w));
}

static void compare(struct skeleton *m, struct slice line)
{
    struct arena a;
    const allm_error *error = NULL, *plain = NULL;
    char *mine = malloc(line.len + 1);  /* so a sanitizer sees its end */
    if (!mine)
        return;
    if (line.len)
        memcpy(mine, line.ptr, line.len);
    line.ptr = mine;
    arena_init(&a, mem_default());
    const allm_json *v = skeleton_parse(m, &a, line, &error);
    const allm_json *w = json_parse_loose(&a, line, &plain);
    demand(!v == !w);
    demand(v || (error && plain));
    if (v)
        same(&a, v, w);
    arena_release(&a);
    free(mine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct skeleton m;
    struct slice rest = { (const char *)data, size };
    skeleton_init(&m);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t len = end ? (size_t)(end - rest.ptr) : rest.len;
        compare(&m, (struct slice){ rest.ptr, len });
        rest = slice_skip(rest, len + (end != NULL));
    }
    skeleton_forget(&m);
    return 0;
}
