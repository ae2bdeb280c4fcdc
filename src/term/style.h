/*
 * style.h - colours and other styles of a terminal, and styled text
 *
 * In styled text, a NUL and a byte with style bits change the style of what
 * follows; with STYLE_LINK, an address and a NUL follow them.  Escape sequences
 * are made of these marks only when the text is written.
 */
#pragma once

#include "term/bytes.h"

#include <stdbool.h>

enum style {
    STYLE_BOLD = 1 << 0,
    STYLE_DIM = 1 << 1,
    STYLE_ITALIC = 1 << 2,
    STYLE_UNDERLINE = 1 << 3,
    STYLE_STRIKE = 1 << 4,
    STYLE_CODE = 1 << 5,
    STYLE_LINK = 1 << 6
};

/* Does the user want escape sequences?  `choice` is "on", "off", or "auto" or
 * NULL: on a terminal that is not dumb, without NO_COLOR; CLICOLOR_FORCE means
 * anywhere. */
bool style_wanted(const char *choice, bool is_terminal);

/* Does the user want links that the terminal opens (OSC 8)?  "auto" or NULL: if
 * it is known to understand them, which is unknown within tmux or screen. */
bool style_links_wanted(const char *choice, bool is_terminal);

/* The escape sequence that sets exactly this style. */
void style_sequence(struct bytes *out, unsigned style);
/* The one that begins a link to this address, without one ends it.  A
 * backslash, and what is not printable ASCII, becomes %XX. */
void style_link(struct bytes *out, const char *url, size_t len);

/* A change of the style in styled text. */
struct style_mark {
    unsigned style;
    const char *url; /* of STYLE_LINK */
    size_t url_len;
};
void style_mark(struct bytes *text, unsigned style);
void style_mark_link(struct bytes *text, unsigned style,
                     const struct bytes *url);
/* Read the mark at the beginning of styled text; returns its length. */
size_t style_read(const char *text, size_t len, struct style_mark *mark);

/* The columns of styled text; of text that has these escape sequences. */
size_t style_columns(const char *text, size_t len);
size_t style_width(const char *text, size_t len);
