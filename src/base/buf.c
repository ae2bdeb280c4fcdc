/*
 * buf.c - a growing byte buffer with a limit
 *
 * Invariant: ptr is NULL and cap is 0, or ptr[len] is NUL and len < cap.
 */
#include "base/buf.h"

#include <stdio.h>

enum { FIRST = 64, LARGE = 1024 * 1024 };

/* A capacity for len bytes and a NUL: twice the current one, or a quarter more
 * if it is large; 0 if the size overflows. */
static size_t capacity_for(const struct buf *b, size_t len)
{
    size_t cap = b->cap ? b->cap : FIRST;
    while (cap <= len) {
        if (cap > SIZE_MAX / 2)
            return 0;
        cap += cap < LARGE ? cap : cap / 4;
    }
    return cap - 1 > b->limit ? b->limit + 1 : cap;
}

bool buf_reserve(struct buf *b, size_t n)
{
    if (b->broken)
        return false;
    if (n > b->limit - b->len) {
        b->broken = b->over = true;
        return false;
    }
    if (b->len + n < b->cap)
        return true;

    size_t cap = capacity_for(b, b->len + n);
    char *p = cap ? arena_resize(b->arena, b->ptr, b->cap, cap) : NULL;
    if (!p) {
        b->broken = true;
        return false;
    }
    b->ptr = p;
    b->cap = cap;
    b->ptr[b->len] = '\0';
    return true;
}

void buf_add(struct buf *b, struct slice s)
{
    if (!buf_reserve(b, s.len))
        return;
    *slice_put(b->ptr + b->len, s) = '\0';
    b->len += s.len;
}

void buf_text(struct buf *b, const char *text)
{
    buf_add(b, slice_of(text));
}

void buf_byte(struct buf *b, char c)
{
    buf_add(b, (struct slice){ &c, 1 });
}

void buf_uint(struct buf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    buf_add(b, (struct slice){ digits + at, sizeof digits - at });
}

void buf_int(struct buf *b, int64_t n)
{
    if (n < 0)
        buf_byte(b, '-');
    buf_uint(b, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void buf_vformat(struct buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0)
        b->broken = true;
    else if (buf_reserve(b, (size_t)n)) {
        vsnprintf(b->ptr + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void buf_format(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vformat(b, format, args);
    va_end(args);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->broken = b->over = false;
    if (b->ptr)
        *b->ptr = '\0';
}
