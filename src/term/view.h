/*
 * view.h - draw the text of the line editor: several rows, and the cursor
 *
 * The drawing begins at the row in which the prompt is; it is erased and drawn
 * again after each change.
 */
#pragma once

#include "term/line.h"

struct view {
    size_t columns, rows; /* of the terminal */
    size_t cursor_row;    /* below the first row of the drawing */
};

/* Draw the prompt and the text; the cursor is at the end, or at its place. */
void view_draw(struct view *v, const char *prompt, const struct line *l,
               bool at_end, struct bytes *screen);
