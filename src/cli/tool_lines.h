/*
 * tool_lines.h - the calls of tools: a line for each, and how long it took
 *
 *      * grep "main" 12 lines 0.1 s
 *
 * A line begins when its call begins.  If another call prints meanwhile, the
 * whole line follows when the call ends.
 */
#pragma once

#include "allm.h"
#include "term/bytes.h"

/* Forget the calls so far. */
void tool_lines_clear(void);

/* Note an event of a stream; append what is to be printed for it. */
void tool_lines_note(const allm_event *event, struct bytes *out);
/* Something else is printed: end the line, if one is open. */
void tool_lines_break(struct bytes *out);

/* Has the call failed? */
bool tool_lines_failed(const char *id);
/* How long a call took, in milliseconds; -1: it is not known. */
int64_t tool_lines_ms(const char *id);

/* A call that was denied; valid until the calls are forgotten. */
struct tool_denied {
    const char *id, *name, *why;
};

/* The next one, counted from *at, which begins with 0; false: no more. */
bool tool_lines_denied(size_t *at, struct tool_denied *d);
