/* glyph.h - UTF-8 characters, and their width in terminal columns */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The bytes of a character that begins with this one; 0: none does. */
size_t glyph_length(char first);
/* Decode the code point at *at, and move *at to its end. */
uint32_t glyph_point(const char *text, size_t len, size_t *at);
/* The columns of a code point: 0 for a mark, which belongs to the previous one;
 * 1 or 2. */
size_t glyph_columns(uint32_t c);

/* The end of the character that begins at `at`; the beginning of the one that
 * ends there.  Both include combining marks. */
size_t glyph_next(const char *text, size_t len, size_t at);
size_t glyph_before(const char *text, size_t at);

/* The columns of the first len bytes. */
size_t glyph_width(const char *text, size_t len);
