/*
 * utf8_pieces.c - make a text that arrives in pieces valid UTF-8
 *
 * The JSON reader returns each half of a surrogate pair as three bytes:
 *
 *      ED A0..AF xx   a high half        ED B0..BF xx   a low half
 */
#include "provider/utf8_pieces.h"

#include "base/buf.h"

#define REPLACEMENT SLICE("\xEF\xBF\xBD")

enum { HALF = 3 };

/* The surrogate at the start of the text; 0: none. */
static uint32_t half_at(struct slice s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (s.len < HALF || p[0] != 0xED || (p[1] & 0xE0) != 0xA0 ||
        (p[2] & 0xC0) != 0x80)
        return 0;
    return 0xD000u | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static void put_pair(struct buf *out, uint32_t high, uint32_t low)
{
    char bytes[4];
    uint32_t point = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    buf_add(out, (struct slice){ bytes, utf8_put(bytes, point) });
}

/* Convert or replace bytes that are not UTF-8 at the start of the text.  False:
 * more bytes are needed. */
static bool replace_invalid(struct buf *out, struct slice *s)
{
    uint32_t unit = half_at(*s);
    uint32_t next = unit ? half_at(slice_skip(*s, HALF)) : 0;
    if (is_high(unit) && next && !is_high(next)) {
        put_pair(out, unit, next);
        *s = slice_skip(*s, (size_t)2 * HALF);
        return true;
    }
    if ((is_high(unit) && s->len == HALF) ||
        (!unit && utf8_unfinished(*s) == s->len))
        return false;
    buf_add(out, REPLACEMENT);
    *s = slice_skip(*s, unit ? HALF : 1);
    return true;
}

struct slice utf8_pieces_repair(struct utf8_pieces *m, struct arena *a,
                                struct slice piece)
{
    struct buf in, out;
    uint32_t point;
    buf_init(&in, a, SIZE_MAX / 2);
    buf_init(&out, a, SIZE_MAX / 2);
    buf_add(&in, (struct slice){ m->held, m->len });
    buf_add(&in, piece);
    struct slice rest = buf_slice(&in);
    bool waits = false;
    m->len = 0;
    while (rest.len && !waits) {
        const char *from = rest.ptr;
        if (utf8_take(&rest, &point))
            buf_add(&out, (struct slice){ from, (size_t)(rest.ptr - from) });
        else
            waits = !replace_invalid(&out, &rest);
    }
    m->len = rest.len < sizeof m->held ? rest.len : 0;
    if (m->len)
        memcpy(m->held, rest.ptr, m->len);
    return in.broken || out.broken ? (struct slice){ NULL, 0 }
                                   : buf_slice(&out);
}

struct slice utf8_pieces_end(struct utf8_pieces *m)
{
    struct slice left = m->len ? REPLACEMENT : SLICE("");
    m->len = 0;
    return left;
}
