/*
 * markdown.h - Markdown as a terminal shows it: bytes in, bytes out
 *
 *      struct markdown *m = markdown_new(80, MARKDOWN_COLOR);
 *      markdown_feed(m, "# Ti", 4, &out);  ... write out, clear it ...
 *      markdown_end(m, &out);
 *
 * The output is appended, never changed; it is the same however the input is
 * split.  CommonMark with tables and deleted text, with these differences:
 * links by reference are shown as written; emphasis, code and links do not
 * continue on the next line; a table begins with "|"; an underlined heading has
 * the style of a paragraph; HTML is shown as text.
 */
#pragma once

#include "term/bytes.h"

enum markdown_look {
    MARKDOWN_PLAIN, /* no escape sequences */
    MARKDOWN_COLOR,
    MARKDOWN_LINKS  /* colours, and links that the terminal opens (OSC 8) */
};

/* `columns` of a line. */
struct markdown *markdown_new(size_t columns, enum markdown_look look);
void markdown_free(struct markdown *m);

void markdown_feed(struct markdown *m, const char *text, size_t len,
                   struct bytes *out);
/* The text ends: write all that is held back.  It can begin again. */
void markdown_end(struct markdown *m, struct bytes *out);
/* The width changes, from the next line on. */
void markdown_resize(struct markdown *m, size_t columns);
