/*
 * fuzz_partial.c - any text, cut anywhere
 *
 * The value of a text so far can be written and read.  A document gives itself,
 * complete.  Every beginning of a document gives a value, or nothing yet, but
 * never an error.  A rejected text is also rejected with any continuation.
 */
#include "base/buf.h"
#include "json/parse.h"
#include "json/write.h"

#include <stdlib.h>

enum { CUTS = 512 };            /* longer texts are cut at some places only */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

struct outcome {
    bool refused, complete, something;
};

static struct outcome take(struct slice text)
{
    struct arena a;
    struct buf out;
    struct json_limits limits;
    const allm_error *error = NULL;
    struct outcome o = { false, false, false };
    json_limits_from(&limits, NULL);
    arena_init(&a, mem_default());
    const allm_json *v = json_partial(&a, text, limits, &o.complete, &error);
    o.refused = error != NULL;
    o.something = v != NULL;
    demand(!(o.refused && o.something));
    demand(!o.complete || o.something);
    if (v) {
        buf_init(&out, &a, SIZE_MAX / 2);
        demand(json_write(&out, v, 0));
        demand(json_parse(&a, buf_slice(&out), limits, &error) != NULL);
    }
    const allm_json *whole = json_parse(&a, text, limits, &error);
    demand((whole != NULL) == o.complete);
    demand(!whole || allm_json_equal(v, whole));
    arena_release(&a);
    return o;
}

/* "12" is a document, "12." is not: a longer text may give less of a number. */
static bool begins_a_number(const uint8_t *data, size_t size)
{
    while (size && memchr(" \t\n\r", *data, 4))
        data++, size--;
    return size && (*data == '-' || (*data >= '0' && *data <= '9'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool number = begins_a_number(data, size);
    struct outcome last = take((struct slice){ (const char *)data, size });
    size_t step = 1 + size / CUTS;
    bool refused = last.refused, something = last.something;
    for (size_t cut = size; cut > 0; cut -= cut < step ? cut : step) {
        char *piece = malloc(cut);      /* so a sanitizer sees its end */
        if (!piece)
            return 0;
        memcpy(piece, data, cut);
        struct outcome o = take((struct slice){ piece, cut });
        free(piece);
        demand(!o.refused || refused);
        demand(!o.something || something || refused || number);
        refused = o.refused;
        something = o.something;
    }
    return 0;
}
