/*
 * scan.h - find the end of what a text may have as it is
 *
 * Plain is all of ASCII but control characters, the quote and the backslash.
 * scan_plain() gives the first byte that is not plain; one must be there, and
 * SCAN_PADDING more bytes that can be loaded.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SCAN_PADDING = 8 };

#define SCAN_EVERY(byte) ((uint64_t)0x0101010101010101u * (byte))

/*
 * The high bit of each byte that is not plain.  Turning over bit 1 puts the
 * quote, 0x22, next to the control characters, so that one subtraction finds
 * them all.  A borrow may mark bytes above a found one: trust the lowest.
 */
static inline uint64_t scan_special(uint64_t word)
{
    uint64_t low = (word ^ SCAN_EVERY(0x02)) - SCAN_EVERY(0x21);
    uint64_t backslash = (word ^ SCAN_EVERY('\\')) - SCAN_EVERY(1);
    return (low | backslash | word) & SCAN_EVERY(0x80);
}

/* True if the first byte in memory is the lowest of a word. */
static inline bool scan_low_first(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first;               /* the compiler knows */
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

#endif
