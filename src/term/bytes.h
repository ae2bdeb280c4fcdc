/* bytes.h - bytes that grow; { NULL } is empty */
#pragma once

#include <stddef.h>

struct bytes {
    char *ptr; /* followed by a NUL that is not counted; NULL if never used */
    size_t len, cap;
};

void bytes_add(struct bytes *b, const char *more, size_t len);
void bytes_text(struct bytes *b, const char *text);
void bytes_byte(struct bytes *b, char c);
/* Like printf. */
void bytes_format(struct bytes *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Replace `old` bytes at `at` by others; `more` must not be part of b. */
void bytes_splice(struct bytes *b, size_t at, size_t old, const char *more,
                  size_t len);
/* Remove the first n bytes. */
void bytes_skip(struct bytes *b, size_t n);
/* The bytes as a string, "" if there are none; valid until b changes. */
const char *bytes_string(const struct bytes *b);
/* Make it empty; the memory is kept. */
void bytes_clear(struct bytes *b);
void bytes_release(struct bytes *b);
