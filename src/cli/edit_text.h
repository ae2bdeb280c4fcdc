/* edit_text.h - the text of a line that is edited, and how it changes */
#ifndef CLI_EDIT_TEXT_H
#define CLI_EDIT_TEXT_H

#include "cli/input.h"

struct edit_text {
    size_t at;          /* where the cursor stands */
    size_t back;        /* lines back in the history; 0: this one */
    bool pasting;       /* keys are text, whatever they are */
    bool full;          /* something did not fit, and it was told */
    struct input line;
    struct input draft; /* this line, while another is looked at */
};

/* An empty line; false: no memory, and told.  { 0 } is fit to be reset. */
bool edit_text_reset(struct edit_text *t);

void edit_text_insert(struct edit_text *t, const char *bytes, size_t len);

void edit_text_home(struct edit_text *t);
void edit_text_end(struct edit_text *t);
void edit_text_left(struct edit_text *t);
void edit_text_right(struct edit_text *t);
void edit_text_word_left(struct edit_text *t);
void edit_text_word_right(struct edit_text *t);

/* Take away: the character before the cursor, or the one under it; all from
 * the beginning, or to the end; a word before the cursor, or behind it. */
void edit_text_backspace(struct edit_text *t);
void edit_text_delete(struct edit_text *t);
void edit_text_kill_begin(struct edit_text *t);
void edit_text_kill_end(struct edit_text *t);
void edit_text_kill_word(struct edit_text *t);
void edit_text_kill_next(struct edit_text *t);

/* A line of the history: the one before, the one after. */
void edit_text_older(struct edit_text *t);
void edit_text_newer(struct edit_text *t);

#endif
