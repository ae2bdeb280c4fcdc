/*
 * edit.h - edit a line in a terminal
 *
 * Keys as in a shell: arrows, Home, End, Backspace, Delete; Ctrl-A, E, B, F, D,
 * H, K, U, W, L, P, N; Alt-B, Alt-F and Alt-Backspace for words; the up and
 * down arrows for earlier lines.  Ctrl-C discards the line.  Pasted text may
 * have several lines.
 */
#ifndef CLI_EDIT_H
#define CLI_EDIT_H

#include <stdbool.h>

/* Are standard input and stderr terminals that support editing? */
bool edit_is_possible(void);

/* Read a line; it is valid until the next call.  NULL: no more lines.  It is
 * drawn on stderr after the prompt, which must be ASCII. */
const char *edit_line(const char *prompt);

#endif
