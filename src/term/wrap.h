/*
 * wrap.h - lay out styled text in lines of a given width
 *
 *      | - a list item whose text      |
 *      |   continues here              |
 *       ^^ prefix: of the first line, and of the others
 *
 * A word is written once it is complete.  The style is reset at the end of each
 * line.  The text must be harmless (see escape.h).
 */
#pragma once

#include "term/style.h"

struct wrap {
    struct bytes *out;
    size_t limit;        /* columns of a line */
    bool color;          /* false: no escape sequences */
    struct bytes first, rest; /* styled prefixes of the lines */
    size_t column, start; /* of the next character; of the text */
    unsigned style;      /* of the terminal */
    struct bytes link;   /* its open link; empty: none */
    unsigned text_style; /* of the text that is added */
    struct bytes text_link;
    struct bytes word;   /* styled, not written yet */
    unsigned word_style; /* at its end; UINT_MAX: another link begins */
    size_t word_width;
    size_t glyph;        /* where the last glyph of the word begins */
    size_t glyph_width;
    bool wide;           /* it begins with a code point of two columns */
    size_t spaces;       /* due before the word */
    bool open;           /* the line has begun */
};

/* The prefix of the next line, and of the lines that follow. */
void wrap_prefix(struct wrap *w, const struct bytes *first,
                 const struct bytes *rest);
/* Add styled text; spaces and line feeds separate words. */
void wrap_text(struct wrap *w, const char *text, size_t len);
/* Add styled text that is never wrapped. */
void wrap_raw(struct wrap *w, const char *text, size_t len);
/* Write the last word; it is complete. */
void wrap_flush(struct wrap *w);
/* Write the last word, and end the line if one has begun. */
void wrap_end(struct wrap *w);
/* End the line; if none has begun, write one with only its prefix. */
void wrap_line(struct wrap *w);
void wrap_release(struct wrap *w);
