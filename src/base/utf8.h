/* utf8.h - UTF-8: check, decode, encode (RFC 3629) */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/arena.h"
#include "base/slice.h"

#include <stdint.h>

/* True if all of s is well-formed; else *bad (if not NULL) is the offset of
 * the first byte that is not: overlong forms, surrogates, beyond U+10FFFF and
 * a sequence cut short by the end are all bad. */
bool utf8_valid(struct slice s, size_t *bad);

/* Take one code point off *s.  False at the end or at a malformed byte, and
 * then *s is untouched. */
bool utf8_take(struct slice *s, uint32_t *point);

/* Write a code point; how many bytes, 0 for a surrogate or beyond U+10FFFF. */
size_t utf8_put(char out[4], uint32_t point);

/* Code points in s; each malformed byte counts as one. */
size_t utf8_count(struct slice s);

/* A text that is not empty with U+FFFD for each malformed byte, in the arena.
 * ptr NULL: no memory. */
struct slice utf8_repair(struct arena *a, struct slice s);

/* A copy that is UTF-8: as it is, or repaired.  ptr NULL: no memory, or s has
 * none. */
struct slice utf8_copy(struct arena *a, struct slice s);

/* How many bytes at the end of s begin a sequence that is not finished yet
 * but may become well-formed: 0 to 3. */
size_t utf8_unfinished(struct slice s);

#endif
