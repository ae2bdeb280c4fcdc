/*
 * line.h - the text of the line editor, and its editing operations
 *
 * A paste of many lines is one character of the text; line_expand() gives the
 * text with it.
 */
#pragma once

#include "term/bytes.h"

#include <stdbool.h>

enum { LINE_UNDO = 64, LINE_FOLDS = 16, LINE_FOLD_POINT = 0xf0000 };

struct line_state {
    struct bytes text;
    size_t at;
};

struct line {
    struct bytes text;
    size_t at;            /* the cursor */
    struct bytes killed;  /* for line_yank() */
    struct line_state undo[LINE_UNDO];
    size_t undo_count;
    bool typing;          /* the last change was a character that was typed */
    struct bytes folds[LINE_FOLDS]; /* pastes */
    size_t fold_count;
};

void line_set(struct line *l, const char *text, size_t len);
/* Forget the text, its pastes and what can be undone. */
void line_reset(struct line *l);
void line_release(struct line *l);

void line_type(struct line *l, const char *bytes, size_t len);
/* Insert a paste; many lines are shown as "[142 lines]". */
void line_paste(struct line *l, const char *bytes, size_t len);
/* Replace the bytes from `from` to the cursor. */
void line_replace(struct line *l, size_t from, const char *bytes, size_t len);

/* Movements; within a text of several lines, home and end are those of the
 * line. */
void line_home(struct line *l);
void line_end(struct line *l);
void line_left(struct line *l);
void line_right(struct line *l);
void line_word_left(struct line *l);
void line_word_right(struct line *l);
/* False: there is no line above, or below. */
bool line_up(struct line *l);
bool line_down(struct line *l);

void line_backspace(struct line *l);
void line_delete(struct line *l);
void line_kill_begin(struct line *l);
void line_kill_end(struct line *l);
void line_kill_word(struct line *l);
void line_kill_next(struct line *l);
void line_yank(struct line *l);
void line_undo(struct line *l);

/* How many lines a text has, the last one perhaps without its end. */
size_t line_count(const char *text, size_t len);
/* The paste that a code point stands for; NULL: it is a character. */
const struct bytes *line_fold(const struct line *l, const char *text,
                              size_t len);
/* Append the whole text, with its pastes. */
void line_expand(const struct line *l, struct bytes *out);
