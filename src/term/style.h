/*
 * style.h - colours and other styles of a terminal, and styled text
 *
 * In styled text, a NUL and a byte with style bits change the style of what
 * follows; escape sequences are made of them only when it is written.
 */
#ifndef TERM_STYLE_H
#define TERM_STYLE_H

#include "term/bytes.h"

#include <stdbool.h>

enum style {
    STYLE_BOLD = 1 << 0,
    STYLE_DIM = 1 << 1,
    STYLE_ITALIC = 1 << 2,
    STYLE_UNDERLINE = 1 << 3,
    STYLE_STRIKE = 1 << 4,
    STYLE_CODE = 1 << 5
};

/* Does the user want escape sequences?  `choice` is "on", "off", or "auto" or
 * NULL: on a terminal that is not dumb, without NO_COLOR; CLICOLOR_FORCE means
 * anywhere. */
bool style_wanted(const char *choice, bool is_terminal);

/* The escape sequence that sets exactly this style. */
void style_sequence(struct bytes *out, unsigned style);

/* Change the style in styled text. */
void style_mark(struct bytes *text, unsigned style);

/* The columns of text that has escape sequences of style_sequence(). */
size_t style_width(const char *text, size_t len);

#endif
