/* edit_text.h - the text of the line editor, and its editing operations */
#ifndef CLI_EDIT_TEXT_H
#define CLI_EDIT_TEXT_H

#include "cli/input.h"

struct edit_text {
    size_t at;          /* the cursor */
    size_t back;        /* lines back in the history; 0: the new line */
    bool pasting;       /* between the marks of a bracketed paste */
    bool full;          /* text did not fit; an error was printed */
    struct input line;
    struct input draft; /* the new line, while the history is shown */
};

/* Make the line empty; false: out of memory; an error was printed.  { 0 } is a
 * valid initial state. */
bool edit_text_reset(struct edit_text *t);

void edit_text_insert(struct edit_text *t, const char *bytes, size_t len);

void edit_text_home(struct edit_text *t);
void edit_text_end(struct edit_text *t);
void edit_text_left(struct edit_text *t);
void edit_text_right(struct edit_text *t);
void edit_text_word_left(struct edit_text *t);
void edit_text_word_right(struct edit_text *t);

/* Delete the character before the cursor, or the one under it; everything
 * before the cursor, or after it; the word before the cursor, or after it. */
void edit_text_backspace(struct edit_text *t);
void edit_text_delete(struct edit_text *t);
void edit_text_kill_begin(struct edit_text *t);
void edit_text_kill_end(struct edit_text *t);
void edit_text_kill_word(struct edit_text *t);
void edit_text_kill_next(struct edit_text *t);

/* Show the previous, the next line of the history. */
void edit_text_older(struct edit_text *t);
void edit_text_newer(struct edit_text *t);

#endif
