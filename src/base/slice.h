/* slice.h - a piece of text or bytes that belongs to somebody else */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

#define SLICE(literal) ((struct slice){ (literal), sizeof(literal) - 1 })

/* The whole of a NUL-terminated text; NULL gives the empty slice. */
static inline struct slice slice_of(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

/* Without its first n bytes, of which there must be so many. */
static inline struct slice slice_skip(struct slice s, size_t n)
{
    return (struct slice){ n ? s.ptr + n : s.ptr, s.len - n };
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || !memcmp(a.ptr, b.ptr, a.len));
}

static inline bool slice_is(struct slice s, const char *text)
{
    return slice_eq(s, slice_of(text));
}

static inline bool slice_starts(struct slice s, struct slice with)
{
    return s.len >= with.len &&
           (with.len == 0 || !memcmp(s.ptr, with.ptr, with.len));
}

#endif
