/* bytes.c - bytes that grow */
#include "term/bytes.h"

#include "term/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Room for n more bytes and the NUL. */
static void reserve_bytes(struct bytes *b, size_t n)
{
    if (b->cap - b->len > n)
        return;
    b->cap = (b->len + n + 1) * 2 + 16;
    b->ptr = term_resize(b->ptr, b->cap);
}

void bytes_splice(struct bytes *b, size_t at, size_t old, const char *more,
                  size_t len)
{
    reserve_bytes(b, len);
    memmove(b->ptr + at + len, b->ptr + at + old, b->len - at - old);
    if (len)
        memcpy(b->ptr + at, more, len);
    b->len = b->len - old + len;
    b->ptr[b->len] = '\0';
}

void bytes_add(struct bytes *b, const char *more, size_t len)
{
    reserve_bytes(b, len);
    if (len)
        memcpy(b->ptr + b->len, more, len);
    b->len += len;
    b->ptr[b->len] = '\0';
}

void bytes_text(struct bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

void bytes_byte(struct bytes *b, char c)
{
    reserve_bytes(b, 1);
    b->ptr[b->len++] = c;
    b->ptr[b->len] = '\0';
}

void bytes_format(struct bytes *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n <= 0)
        return;
    reserve_bytes(b, (size_t)n);
    va_start(args, format);
    vsnprintf(b->ptr + b->len, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
}

void bytes_skip(struct bytes *b, size_t n)
{
    bytes_splice(b, 0, n, NULL, 0);
}

const char *bytes_string(const struct bytes *b)
{
    return b->ptr ? b->ptr : "";
}

void bytes_clear(struct bytes *b)
{
    b->len = 0;
    if (b->ptr)
        b->ptr[0] = '\0';
}

void bytes_release(struct bytes *b)
{
    term_free(b->ptr);
    *b = (struct bytes){ NULL, 0, 0 };
}
