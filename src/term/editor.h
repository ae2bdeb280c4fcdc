/*
 * editor.h - a line editor as a state machine: keys in, screen out
 *
 *      editor_begin(e, "> ", &screen);         ... write screen ...
 *      event = editor_feed(e, bytes, len, &used, &screen);
 *
 * Keys as in a shell: arrows, Home, End, Backspace, Delete; Ctrl-A, E, B, F, D,
 * H, K, U, W, Y, L, P, N; Alt-B, F, D and Alt-Backspace for words; Ctrl-_ to
 * undo; Ctrl-R to search earlier lines; Tab to complete; Ctrl-X Ctrl-E for an
 * editor; Ctrl-Z.  Alt-Enter, Ctrl-J, or a backslash before Enter begin another
 * line.  Pasted text never ends the line.
 */
#pragma once

#include "term/bytes.h"

enum editor_event {
    EDITOR_MORE,    /* more keys are needed */
    EDITOR_LINE,    /* Enter: the text is complete */
    EDITOR_END,     /* Ctrl-D in an empty line */
    EDITOR_DROPPED, /* Ctrl-C: the text was dropped */
    EDITOR_STOP,    /* Ctrl-Z: the caller stops the process */
    EDITOR_OPEN     /* Ctrl-X Ctrl-E: the caller opens an editor */
};

struct editor_hooks {
    /* An earlier line, 1 being the last one; NULL: there is none. */
    const char *(*history)(void *ud, size_t back);
    /* Append what the word before `at` can become, each with a line feed;
     * returns where the word begins. */
    size_t (*complete)(void *ud, const char *text, size_t at,
                       struct bytes *words);
    void *ud;
};

/* The hooks must outlive the editor. */
struct editor *editor_new(const struct editor_hooks *hooks);
void editor_free(struct editor *e);

/* Begin a line; the prompt must outlive the line. */
void editor_begin(struct editor *e, const char *prompt, struct bytes *screen);
/* Use bytes until something happens; *used is how many. */
enum editor_event editor_feed(struct editor *e, const char *bytes, size_t len,
                              size_t *used, struct bytes *screen);
/* If no byte follows within this time, call editor_idle(); -1: no limit. */
int editor_timeout(const struct editor *e);
enum editor_event editor_idle(struct editor *e, struct bytes *screen);

/* The whole text; valid until the next call. */
const char *editor_text(struct editor *e);
void editor_set(struct editor *e, const char *text, size_t len);
/* The size of the terminal; 0: unknown.  Draws nothing. */
void editor_resize(struct editor *e, size_t columns, size_t rows);
/* Draw again. */
void editor_draw(struct editor *e, struct bytes *screen);
