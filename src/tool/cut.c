/* cut.c - shorten results that are too long for the model */
#include "tool/cut.h"

#include "base/buf.h"

#include <stdint.h>

enum { MARK_ROOM = 96 };        /* for the line about the bytes left out */

/* The nearest boundary of a UTF-8 character at or before (up: after) `at`. */
static size_t at_character(struct slice text, size_t at, bool up)
{
    while (at && at < text.len && ((unsigned char)text.ptr[at] & 0xc0) == 0x80)
        at += up ? 1 : (size_t)-1;
    return at;
}

struct slice cut_text(struct arena *a, struct slice text, size_t max)
{
    if (!max || text.len <= max)
        return text;
    size_t keep = max > MARK_ROOM ? max - MARK_ROOM : 0;
    size_t head = at_character(text, keep - keep / 3, false);
    size_t tail = at_character(text, text.len - keep / 3, true);
    struct buf out = buf_in(a, SIZE_MAX / 2);
    buf_add(&out, (struct slice){ text.ptr, head });
    buf_format(&out, "\n[%zu of %zu bytes left out: bytes %zu to %zu]\n",
               tail - head, text.len, head, tail);
    buf_add(&out, slice_skip(text, tail));
    return out.broken ? (struct slice){ 0 } : buf_slice(&out);
}
