/* glyph.h - characters of UTF-8 and the columns they take in a terminal */
#ifndef CLI_GLYPH_H
#define CLI_GLYPH_H

#include <stddef.h>

/* Where the character ends that begins here, and where the one begins that
 * ends here, with the marks that combine with it. */
size_t glyph_next(const char *text, size_t len, size_t at);
size_t glyph_before(const char *text, size_t at);

/* Columns of the first len bytes. */
size_t glyph_width(const char *text, size_t len);

#endif
