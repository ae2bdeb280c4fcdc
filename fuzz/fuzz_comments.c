/*
 * fuzz_comments.c - any text with comments, and the place of each value
 *
 * A text that is JSON stays what it is if comments are allowed.  If comments
 * make it JSON, then the same text with spaces for them is JSON, too.  The
 * bytes of each member are the text of its value.
 */
#include "json/comments.h"
#include "json/parse.h"
#include "json/span.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* The members of arrays, by their index. */
static void find_members(struct arena *a, struct slice plain,
                         const allm_json *root, struct json_limits limits)
{
    for (size_t i = 0; i < allm_json_count(root) && i < 64; i++) {
        char pointer[32];
        struct slice bytes;
        const allm_error *error;
        int n = snprintf(pointer, sizeof pointer, "/%zu", i);
        if (!span_find(plain, root, (struct slice){ pointer, (size_t)n },
                       &bytes)) {
            demand(allm_json_type_of(root) == ALLM_JSON_OBJECT);
            continue;
        }
        const allm_json *v = json_parse(a, bytes, limits, &error);
        demand(v && allm_json_equal(v, allm_json_pointer(root, pointer)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    const allm_error *error;
    struct json_limits strict, easy;
    struct slice text = { (const char *)data, size };
    json_limits_from(&strict, NULL);
    easy = strict;
    easy.comments = true;
    arena_init(&a, mem_default());
    const allm_json *plain = json_parse(&a, text, strict, &error);
    const allm_json *v = json_parse(&a, text, easy, &error);
    demand(!plain || allm_json_equal(plain, v));
    if (v) {
        struct slice blank = comments_blank(&a, text);
        demand(blank.len == size);
        const allm_json *again = json_parse(&a, blank, strict, &error);
        demand(again && allm_json_equal(again, v));
        find_members(&a, blank, again, strict);
    }
    arena_release(&a);
    return 0;
}
