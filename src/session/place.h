/* place.h - the place of a session in a store, and what it forbids */
#pragma once

#include "session/fold.h"
#include "store/store.h"

struct place {
    struct mem mem;
    struct store_session *store;
    struct arena arena;             /* owns what was loaded last */
    struct store_loaded loaded;
    struct fold fold;               /* the open operation, if there is one */
    allm_session_record *before;    /* the session without that operation;
                                       NULL: nothing is open */
    allm_thread *rows;              /* the messages as they are in the store,
                                       with what is under way */
    bool new_holder;                /* another one has written before */
    uint64_t first_head;            /* the newest record when it was opened */
    bool taken;                     /* `taken` must be written first */
    bool stale;                     /* an append failed: load again first */
};

/* NULL: out of memory.  Free accepts NULL. */
struct place *place_new(struct mem mem);
void place_free(struct place *d);

/* Why the session cannot be changed: it is only read, it is lost, an operation
 * is broken off.  NULL, or an error in the arena. */
const allm_error *place_forbids(const struct place *d, struct arena *a);
/* The same, without the broken-off operation. */
const allm_error *place_gone(const struct place *d, struct arena *a);

/* The open operation has ended. */
void place_close(struct place *d);
