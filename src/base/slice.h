/* slice.h - a borrowed piece of text or bytes */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

#define SLICE(literal) ((struct slice){ (literal), sizeof(literal) - 1 })

/* For static tables, where SLICE() is not allowed. */
#define SLICE_INIT(literal) { (literal), sizeof(literal) - 1 }

/* All of a NUL-terminated string; NULL gives the empty slice. */
static inline struct slice slice_of(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

/* A string and its length as given by a caller of the library: ALLM_NUL_ENDED
 * means "up to the NUL". */
static inline struct slice slice_given(const char *text, size_t len)
{
    return len == (size_t)-1 ? slice_of(text) : (struct slice){ text, len };
}

/* Without the first n bytes; there must be at least n. */
static inline struct slice slice_skip(struct slice s, size_t n)
{
    return (struct slice){ n ? s.ptr + n : s.ptr, s.len - n };
}

/* Copy it to a place with enough room; returns the end of the copy.  Most
 * strings are short, and calling memcpy would be most of the work; the last
 * word overlaps the previous one. */
static inline char *slice_put(char *to, struct slice s)
{
    size_t n = s.len;
    if (n > 16) {
        memcpy(to, s.ptr, n);
    } else if (n >= 8) {
        memcpy(to, s.ptr, 8);
        memcpy(to + n - 8, s.ptr + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, s.ptr, 4);
        memcpy(to + n - 4, s.ptr + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = s.ptr[i];
    }
    return to + n;
}

static inline bool slice_same_8(const char *a, const char *b)
{
    uint64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return x == y;
}

static inline bool slice_same_4(const char *a, const char *b)
{
    uint32_t x, y;
    memcpy(&x, a, 4);
    memcpy(&y, b, 4);
    return x == y;
}

/*
 * Are n bytes equal?  Most strings are short, and calling memcmp would be most
 * of the work.  The last word overlaps the previous one.
 */
static inline bool slice_same(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    if (n >= 8) {
        for (; i + 8 < n; i += 8)
            if (!slice_same_8(a + i, b + i))
                return false;
        return slice_same_8(a + n - 8, b + n - 8);
    }
    if (n >= 4)
        return slice_same_4(a, b) && slice_same_4(a + n - 4, b + n - 4);
    while (i < n && a[i] == b[i])
        i++;
    return i == n;
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len &&
           (a.len == 0 || (a.ptr && b.ptr && slice_same(a.ptr, b.ptr, a.len)));
}

static inline bool slice_is(struct slice s, const char *text)
{
    return slice_eq(s, slice_of(text));
}

/* Is it one of the names in the list, which NULL ends? */
static inline bool slice_in(struct slice s, const char *const *list)
{
    while (*list && !slice_is(s, *list))
        list++;
    return *list != NULL;
}

static inline bool slice_starts(struct slice s, struct slice with)
{
    return s.len >= with.len && slice_same(s.ptr, with.ptr, with.len);
}

static inline bool slice_ends(struct slice s, struct slice with)
{
    return s.len >= with.len && slice_eq(slice_skip(s, s.len - with.len), with);
}

/* Remove the bytes up to the first `sep` and return them without it; all of
 * them if there is none. */
static inline struct slice slice_take(struct slice *s, char sep)
{
    const char *at = s->len ? memchr(s->ptr, sep, s->len) : NULL;
    size_t n = at ? (size_t)(at - s->ptr) : s->len;
    struct slice piece = { s->ptr, n };
    *s = slice_skip(*s, at ? n + 1 : n);
    return piece;
}

static inline bool slice_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A letter or a digit of ASCII. */
static inline bool slice_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || slice_digit(c);
}

/* The value of a hexadecimal digit; -1: it is not one. */
static inline int slice_hex(char c)
{
    if (slice_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* White space as in JSON and HTTP. */
static inline bool slice_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Without white space at both ends. */
static inline struct slice slice_strip(struct slice s)
{
    while (s.len && slice_space(*s.ptr))
        s = slice_skip(s, 1);
    while (s.len && slice_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Without spaces and control characters at both ends. */
static inline struct slice slice_trim(struct slice s)
{
    while (s.len && (unsigned char)*s.ptr <= ' ')
        s = slice_skip(s, 1);
    while (s.len && (unsigned char)s.ptr[s.len - 1] <= ' ')
        s.len--;
    return s;
}
