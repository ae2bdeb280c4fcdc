/*
 * inline.h - the inline part of Markdown: emphasis, code, links
 *
 * Text is written as it arrives.  From an opening delimiter it is held back
 * until the closing one, the end of the line or 1 KiB; what is not closed then
 * is written literally.
 */
#pragma once

#include "term/style.h"

#include <stdint.h>

enum { INLINE_HELD = 1024 };

struct inline_text {
    bool color;        /* false: characters show the structure */
    bool links;        /* the terminal opens them: addresses are not shown */
    unsigned base;     /* the style of the block */
    struct bytes held; /* not written yet */
    uint32_t before;   /* the code point before held; 0: none */
    char waits[2];     /* what the held text begins with, and what in it
                          must end first; 0: nothing */
    int em, strong, strike, link; /* open at this place */
    struct bytes url;  /* of the open link, if it is marked */
    unsigned marked;   /* the style of the output; UINT_MAX: unknown */
};

/* Add harmless text of a line, and append to styled text. */
void inline_feed(struct inline_text *in, const char *text, size_t len,
                 struct bytes *out);
/* The line ends.  True: with a backslash, which is not written. */
bool inline_end(struct inline_text *in, struct bytes *out);
/* A block with this style begins. */
void inline_begin(struct inline_text *in, unsigned base);
void inline_release(struct inline_text *in);

/* Append text in which only backslashes and references mean something; those of
 * a tab or a line end are left out. */
void inline_unescape(const char *text, size_t len, struct bytes *out);
