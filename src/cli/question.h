/*
 * question.h - ask the user something on the terminal
 *
 *      ? note: may it run?                      the title, one line
 *        | {"text": "buy milk"}                 the body, escaped and cut
 *        [y]es once, [n]o                       the choices
 *      > y
 *
 * The text of the title, the body and the labels may come from anywhere: it
 * cannot control the terminal, nor look like another part of the question.
 * Only keys that are pressed after the question was shown count; a paste and
 * the sequences of arrows and the like do not.  If an answer is being printed,
 * its line is ended first.
 */
#pragma once

#include "allm.h"
#include "term/bytes.h"

struct question_choice {
    char key;          /* a small letter; 0: it is picked by its number */
    const char *label; /* such as "[y]es once" */
};

struct question {
    const char *title;
    const char *body; /* NULL: none */
    size_t body_len;
    bool whole;       /* show all of the body */
    bool skips;       /* Enter is a choice, too, whose index is the count */
    size_t count;     /* either all choices have a key, or none */
    const struct question_choice *choices;
};

enum { QUESTION_LEFT = -1 }; /* Ctrl-C, Ctrl-D, or the end of the input */

/* Is there somebody to ask?  Standard input and stderr must be terminals. */
bool question_possible(void);

/* Show the title and the body. */
void question_show(const struct question *q);

/* Show the question and let the user choose.  Returns the index of the choice,
 * or QUESTION_LEFT. */
int question_choose(const struct question *q);

/* Let the user type a line, which is appended; it is not kept in the history.
 * False: the user left. */
bool question_line(const char *prompt, struct bytes *line);
