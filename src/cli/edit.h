/*
 * edit.h - a line that is edited in a terminal
 *
 * Arrows, Home, End, Backspace, Delete; Ctrl-A E B F D H K U W L P N as in a
 * shell, words by Alt-B, Alt-F and Alt-Backspace, lines written before by the
 * arrows up and down.  Ctrl-C drops the line.  A text that is pasted may have
 * several lines.
 */
#ifndef CLI_EDIT_H
#define CLI_EDIT_H

#include <stdbool.h>

/* Is there a terminal that can do it, to read from and to draw on? */
bool edit_is_possible(void);

/* The next line, lent until the next call; NULL: no more.  It is drawn on
 * stderr, behind the prompt, which takes a column for each byte. */
const char *edit_line(const char *prompt);

#endif
