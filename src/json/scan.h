/*
 * scan.h - find the end of the plain characters in a string
 *
 * All of ASCII is plain except control characters, the quote and the
 * backslash. scan_plain() returns the first byte that is not plain; there must
 * be one, followed by SCAN_PADDING readable bytes.
 */
#pragma once

#include "base/slice.h"

enum { SCAN_PADDING = 8 };

/* The length of the string that begins with the quote here; 0: it does not
 * end. */
static inline size_t scan_quoted(struct slice s)
{
    size_t end = 1;
    while (end < s.len && s.ptr[end] != '"')
        end += s.ptr[end] == '\\' ? 2 : 1;
    return end < s.len ? end + 1 : 0;
}

#define SCAN_EVERY(byte) ((uint64_t)0x0101010101010101u * (byte))

/*
 * The high bit of each byte that is not plain.  Flipping bit 1 puts the quote,
 * 0x22, next to the control characters, so one subtraction finds them all.  A
 * borrow may mark bytes above a found one: trust the lowest.
 */
static inline uint64_t scan_special(uint64_t word)
{
    uint64_t low = (word ^ SCAN_EVERY(0x02)) - SCAN_EVERY(0x21);
    uint64_t backslash = (word ^ SCAN_EVERY('\\')) - SCAN_EVERY(1);
    return (low | backslash | word) & SCAN_EVERY(0x80);
}

/* True on a little-endian machine. */
static inline bool scan_low_first(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first;               /* a constant for the compiler */
}

static inline const char *scan_plain(const char *at)
{
    uint64_t word;
    for (;; at += 8) {
        memcpy(&word, at, 8);
        word = scan_special(word);
        if (word)
            break;
    }
    if (scan_low_first())
        return at + (unsigned)__builtin_ctzll(word) / 8;
    while ((unsigned char)*at >= ' ' && (unsigned char)*at < 0x80 &&
           *at != '"' && *at != '\\')
        at++;
    return at;
}
