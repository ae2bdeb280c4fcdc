/*
 * follow.h - what a follower of a session reads, and where it is
 *
 *      records:  created  begin  call response ... end   change   begin ...
 *      events:                   1 2 3 4 5 ......
 *
 * While an operation runs its events are read; of records only those that
 * session_changed reports.  Where there are no events, records become events.
 */
#pragma once

#include "store/store.h"

/* "SEQ" or "SEQ.N". */
struct follow_cursor {
    bool given, dotted;
    uint64_t seq, n;
};

struct follow_at {
    uint64_t seq;               /* the last record that was dealt with */
    uint64_t op;                /* the begin of the open operation; 0: none */
    uint64_t n;                 /* the last of its events */
};

/* The messages that session_changed reports. */
struct follow_change {
    uint64_t keep;
    size_t count;
    struct backend_message *rows;
};

/* One look at the store; all in the arena of its task. */
struct follow_read {
    const char *name;
    int64_t id;                 /* 0: it was not found yet */
    struct follow_cursor cursor;    /* where to begin, if id is 0 */
    struct follow_at at;        /* where it was */
    bool late;                  /* it has waited long for these events */

    bool waits;                 /* for events that a holder may yet write */
    size_t live_count;
    struct backend_live *live;
    size_t record_count;        /* up to a begin or an end */
    struct record *records;     /* packed */
    struct follow_change *changes;  /* of each record */
    struct store_loaded loaded; /* the row, and all blobs */
};

/* allm_store_follow(). */
allm_stream *follow_stream(allm_store *s, const char *name, const char *cursor,
                           uint32_t flags);

/* In the store's thread; `ud` is the struct above. */
const allm_error *follow_look(struct backend *b, struct arena *a, void *ud);

/* Is it a record that session_changed reports? */
bool follow_is_change(const struct record *r);
