/* buf.h - a growing byte buffer with a limit */
#pragma once

#include "base/arena.h"
#include "base/slice.h"

#include <stdarg.h>
#include <stdint.h>

/*
 * A buffer that cannot grow, because memory or its limit is exhausted, is
 * broken: later additions do nothing, and the caller checks once, at the end.
 * The bytes are always followed by a NUL that is not counted.
 */
struct buf {
    struct arena *arena;
    char *ptr;
    size_t len, cap;
    size_t limit;
    bool broken;
    bool over;              /* broken by its limit, not by lack of memory */
};

/* An empty buffer. */
static inline struct buf buf_in(struct arena *arena, size_t limit)
{
    return (struct buf){ .arena = arena, .limit = limit };
}

static inline void buf_init(struct buf *b, struct arena *arena, size_t limit)
{
    *b = buf_in(arena, limit);
}

void buf_add(struct buf *b, struct slice s);
void buf_text(struct buf *b, const char *text);
void buf_byte(struct buf *b, char c);
void buf_uint(struct buf *b, uint64_t n);
void buf_int(struct buf *b, int64_t n);

/* Like printf, for messages; no floating point, which depends on the locale. */
void buf_format(struct buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vformat(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Room for n more bytes at b->ptr + b->len; the caller adds to b->len. */
bool buf_reserve(struct buf *b, size_t n);

/* Make it empty and no longer broken; the memory is kept. */
void buf_clear(struct buf *b);

static inline struct slice buf_slice(const struct buf *b)
{
    return (struct slice){ b->ptr ? b->ptr : "", b->len };
}
