/*
 * live.h - the events of a running operation, written for its followers
 *
 *      event --> line --> (live_ms) --> a row of allm_live --> follow.c
 *
 * Nothing depends on these rows: they are written without a sync, and what
 * cannot be written is left out.
 */
#pragma once

#include "store/store.h"

struct live;

/* For the operation that begins with this seq.  NULL: the store writes no
 * events, or out of memory. */
struct live *live_open(struct store_session *t, struct clock clock,
                       uint64_t op);

/* Add an event; `head` is the newest record before it. */
void live_add(struct live *l, const allm_event *event, uint64_t head);

/* Write what has waited long enough; *again_ns becomes no later than the time
 * to call this again. */
void live_rest(struct live *l, int64_t *again_ns);

/* Write the rest, and that no more will come.  NULL is accepted. */
void live_close(struct live *l);

/* ------------------------------------------------- how a row is read --- */

/* The body of a row: "EPOCH" or "EPOCH end", then a line "HEAD {event}" for
 * each event. */
struct live_row {
    uint64_t epoch;
    bool ends;                  /* its writer writes no more */
    struct slice rest;          /* the lines that were not read yet */
};

bool live_read(struct slice body, struct live_row *out);
/* The next line; false: there are no more. */
bool live_next(struct live_row *r, uint64_t *head, struct slice *event);
