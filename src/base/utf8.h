/* utf8.h - UTF-8: check, decode, encode (RFC 3629) */
#pragma once

#include "base/arena.h"
#include "base/slice.h"

#include <stdint.h>

/* True if all of s is well-formed; otherwise *bad (if not NULL) is the offset
 * of the first invalid byte.  Overlong forms, surrogates, code points beyond
 * U+10FFFF and a truncated sequence at the end are invalid. */
bool utf8_valid(struct slice s, size_t *bad);

/* Remove one code point from *s.  False at the end or at a malformed byte; *s
 * is then unchanged. */
bool utf8_take(struct slice *s, uint32_t *point);

/* Write a code point; returns the number of bytes, or 0 for a surrogate or a
 * value beyond U+10FFFF. */
size_t utf8_put(char out[4], uint32_t point);

/* The number of code points in s; each malformed byte counts as one. */
size_t utf8_count(struct slice s);

/* A copy in the arena with U+FFFD for each malformed byte; s must not be
 * empty. ptr is NULL if out of memory. */
struct slice utf8_repair(struct arena *a, struct slice s);

/* A copy that is valid UTF-8, repaired if necessary. ptr is NULL if s.ptr is
 * NULL or there is no memory. */
struct slice utf8_copy(struct arena *a, struct slice s);

/* The number of bytes at the end of s that begin an unfinished sequence that
 * may still become well-formed: 0 to 3. */
size_t utf8_unfinished(struct slice s);
