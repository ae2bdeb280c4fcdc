/* glyph.h - UTF-8 characters, and their width in terminal columns */
#ifndef CLI_GLYPH_H
#define CLI_GLYPH_H

#include <stddef.h>

/* The end of the character that begins at `at`; the beginning of the one that
 * ends there.  Both include combining marks. */
size_t glyph_next(const char *text, size_t len, size_t at);
size_t glyph_before(const char *text, size_t at);

/* The columns of the first len bytes. */
size_t glyph_width(const char *text, size_t len);

#endif
