/*
 * escape.h - make text from outside harmless for a terminal
 *
 * Control characters other than line feed and tab, marks that change the
 * direction of text, and line separators become \uXXXX; bytes that are not
 * UTF-8 become \xXX.  Characters may arrive in pieces.
 */
#pragma once

#include "term/bytes.h"

#include <stdbool.h>
#include <stdint.h>

struct escape {
    char held[4]; /* the first bytes of a character */
    int count, want;
    bool returns; /* carriage returns are kept: the caller uses them up */
};

/* Does the code point become an escape? */
bool escape_is_unsafe(uint32_t c);
/* Are `count` bytes longer than needed for it, or is it a surrogate, or beyond
 * Unicode? */
bool escape_is_invalid(uint32_t c, size_t count);
/* Append the text; an incomplete last character is kept for the next call. */
void escape_feed(struct escape *e, const char *text, size_t len,
                 struct bytes *out);
/* Append what is left of an incomplete character. */
void escape_end(struct escape *e, struct bytes *out);
/* The same for text that is complete. */
void escape_text(const char *text, size_t len, struct bytes *out);
