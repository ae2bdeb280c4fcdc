/* edit_text.h - the text of a line that is edited, and how it changes */
#ifndef CLI_EDIT_TEXT_H
#define CLI_EDIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { EDIT_LONGEST = 65536 };

struct edit_text {
    size_t len, at;               /* at: where the cursor stands */
    size_t back;                  /* lines back in the history; 0: this one */
    bool pasting;                 /* keys are text, whatever they are */
    char bytes[EDIT_LONGEST + 1]; /* a NUL stands behind it */
    char draft[EDIT_LONGEST + 1]; /* this line, while another is looked at */
};

void edit_text_reset(struct edit_text *t);

/* What does not fit is left out. */
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
