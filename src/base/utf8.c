/*
 * utf8.c - UTF-8: check, decode, encode (RFC 3629)
 *
 * The grammar of RFC 3629, section 4, in one rule: the lead byte determines
 * the length and the range of the second byte; all others are 80..BF.
 *
 *      lead      length  second
 *      00..7F    1
 *      C2..DF    2       80..BF
 *      E0        3       A0..BF      below: overlong
 *      E1..EF    3       80..BF
 *      ED        3       80..9F      above: surrogates
 *      F0        4       90..BF      below: overlong
 *      F1..F3    4       80..BF
 *      F4        4       80..8F      above: beyond U+10FFFF
 */
#include "base/utf8.h"

#include "base/buf.h"

/* The length that a lead byte announces; 0 if it is not a lead byte. */
static size_t promised(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2)
        return 0;
    if (lead < 0xE0)
        return 2;
    if (lead < 0xF0)
        return 3;
    return lead < 0xF5 ? 4 : 0;
}

static bool is_tail(unsigned char byte)
{
    return (byte & 0xC0) == 0x80;
}

static bool second_fits(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xE0: return second >= 0xA0 && second <= 0xBF;
    case 0xED: return second >= 0x80 && second <= 0x9F;
    case 0xF0: return second >= 0x90 && second <= 0xBF;
    case 0xF4: return second >= 0x80 && second <= 0x8F;
    default:   return is_tail(second);
    }
}

/* How many of the first `len` bytes of a sequence at p are present and
 * valid. */
static size_t matched(const unsigned char *p, size_t len)
{
    if (len < 2 || !second_fits(p[0], p[1]))
        return 1;
    size_t n = 2;
    while (n < len && is_tail(p[n]))
        n++;
    return n;
}

/* The length of the well-formed sequence at the start of s; 0 if there is
 * none. */
static size_t sequence_length(struct slice s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (s.len == 0)
        return 0;
    size_t len = promised(p[0]);
    if (len <= 1)
        return len;
    return len <= s.len && matched(p, len) == len ? len : 0;
}

/* The number of ASCII bytes at the start of s, checked eight at a time. */
static size_t ascii_run(struct slice s)
{
    size_t n = 0;
    for (uint64_t word; s.len - n >= sizeof word; n += sizeof word) {
        memcpy(&word, s.ptr + n, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    while (n < s.len && (unsigned char)s.ptr[n] < 0x80)
        n++;
    return n;
}

/* Is this short string ASCII? Without a loop: most pieces of a streamed
 * response are a single word. */
static bool is_ascii_word(struct slice s)
{
    uint64_t a = 0, b = 0;
    if (s.len > 2 * sizeof a || !s.len)
        return !s.len;
    if (s.len >= sizeof a) {
        memcpy(&a, s.ptr, sizeof a);
        memcpy(&b, s.ptr + s.len - sizeof b, sizeof b);
    } else if (s.len >= 4) {
        memcpy(&a, s.ptr, 4);
        memcpy(&b, s.ptr + s.len - 4, 4);
    } else {
        a = (unsigned char)(s.ptr[0] | s.ptr[s.len / 2]);
        b = (unsigned char)s.ptr[s.len - 1];
    }
    return !((a | b) & UINT64_C(0x8080808080808080));
}

bool utf8_valid(struct slice s, size_t *bad)
{
    size_t at = 0;
    if (is_ascii_word(s))
        return true;
    while (at < s.len) {
        struct slice rest = slice_skip(s, at);
        size_t n = ascii_run(rest);
        if (!n)
            n = sequence_length(rest);
        if (!n) {
            if (bad)
                *bad = at;
            return false;
        }
        at += n;
    }
    return true;
}

bool utf8_take(struct slice *s, uint32_t *point)
{
    static const unsigned char lead_bits[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    size_t n = sequence_length(*s);
    if (!n)
        return false;
    const unsigned char *p = (const unsigned char *)s->ptr;
    uint32_t value = p[0] & lead_bits[n];
    for (size_t i = 1; i < n; i++)
        value = value << 6 | (p[i] & 0x3F);
    *point = value;
    *s = slice_skip(*s, n);
    return true;
}

/* The byte with bits shift..shift+5 of a code point and a marker. */
static char piece(uint32_t point, unsigned shift, unsigned mark)
{
    uint32_t bits = shift ? point >> shift : point;
    return (char)(unsigned char)(mark | (mark == 0x80 ? bits & 0x3F : bits));
}

size_t utf8_put(char out[4], uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = piece(point, 6, 0xC0);
        out[1] = piece(point, 0, 0x80);
        return 2;
    }
    if (point < 0x10000) {
        if (point >= 0xD800 && point <= 0xDFFF)
            return 0;
        out[0] = piece(point, 12, 0xE0);
        out[1] = piece(point, 6, 0x80);
        out[2] = piece(point, 0, 0x80);
        return 3;
    }
    if (point > 0x10FFFF)
        return 0;
    out[0] = piece(point, 18, 0xF0);
    out[1] = piece(point, 12, 0x80);
    out[2] = piece(point, 6, 0x80);
    out[3] = piece(point, 0, 0x80);
    return 4;
}

size_t utf8_count(struct slice s)
{
    size_t count = 0;
    while (s.len) {
        size_t n = ascii_run(s);
        if (n) {
            count += n;
        } else {
            n = sequence_length(s);
            n += !n;            /* a malformed byte counts as one */
            count++;
        }
        s = slice_skip(s, n);
    }
    return count;
}

struct slice utf8_repair(struct arena *a, struct slice s)
{
    struct buf out = buf_in(a, SIZE_MAX / 2);
    buf_reserve(&out, s.len);
    while (s.len) {
        size_t good = s.len;
        utf8_valid(s, &good);
        buf_add(&out, (struct slice){ s.ptr, good });
        s = slice_skip(s, good);
        if (s.len) {
            buf_text(&out, "\xEF\xBF\xBD");
            s = slice_skip(s, 1);
        }
    }
    return out.broken ? (struct slice){ NULL, 0 } : buf_slice(&out);
}

struct slice utf8_copy(struct arena *a, struct slice s)
{
    if (!utf8_valid(s, NULL))
        return utf8_repair(a, s);
    return (struct slice){ arena_copy(a, s), s.len };
}

size_t utf8_unfinished(struct slice s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    for (size_t n = 1; n <= 3 && n <= s.len; n++) {
        const unsigned char *lead = p + s.len - n;
        if (is_tail(*lead))
            continue;
        return promised(*lead) > n && matched(lead, n) == n ? n : 0;
    }
    return 0;
}
