/*
 * fuzz_utf8.c - any bytes: the functions of utf8.h must agree
 *
 * Decoding and encoding gives the same bytes up to the position that
 * utf8_valid() returns; the count is that of the decoded characters; an
 * incomplete character at the end is malformed.
 */
#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* Take one character; false at a malformed byte, which is then skipped. */
static bool take_one(struct slice *rest)
{
    struct slice before = *rest;
    uint32_t point;
    if (!utf8_take(rest, &point)) {
        demand(rest->ptr == before.ptr && rest->len == before.len);
        *rest = slice_skip(*rest, 1);
        return false;
    }
    char again[4];
    size_t n = utf8_put(again, point);
    demand(n == before.len - rest->len && !memcmp(again, before.ptr, n));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = { (const char *)data, size }, rest = text;
    size_t count = 0, first_bad = size;
    while (rest.len) {
        size_t at = size - rest.len;
        count++;
        if (!take_one(&rest) && first_bad == size)
            first_bad = at;
    }
    size_t bad = size;
    demand(utf8_valid(text, &bad) == (first_bad == size));
    demand(bad == first_bad);
    demand(utf8_count(text) == count);

    size_t unfinished = utf8_unfinished(text);
    demand(unfinished <= 3 && unfinished <= size);
    demand(!unfinished || first_bad <= size - unfinished);
    return 0;
}
