/*
 * answer.h - print an answer while it arrives
 *
 * The text goes to stdout, as Markdown if that is a terminal.  Reasoning, tool
 * calls and a spinner go to stderr, if that is one.
 */
#pragma once

#include "allm.h"

struct answer_look {
    const char *markdown, *color, *links; /* auto, on or off; NULL: auto */
    uint32_t width;               /* columns; 0: those of the terminal */
    bool raw;                     /* no Markdown, and no escapes */
    bool hide_reasoning;
    bool verbose;                 /* show reasoning anywhere */
    bool quiet;                   /* no spinner, no tool calls */
};

/* Run a call to its end and print its text.  Returns SIGINT if the user pressed
 * Ctrl-C in a console, else 0. */
int answer_run(allm_stream *stream, const struct answer_look *look);

/* The same, but print nothing. */
int answer_wait(allm_stream *stream);

/* Print a text that is complete. */
void answer_print(const char *text, size_t len, const struct answer_look *look);

/* Something else is printed to the terminal: end the line of the answer that
 * is running, if there is one, and erase the spinner. */
void answer_pause(void);

/* What the last call has printed; valid until the next one. */
const char *answer_last_text(size_t *len);
/* Send it to the clipboard of the terminal with OSC 52, if stderr is a terminal
 * that is not dumb, and print what was done, or why not. */
void answer_copy(void);
