/* follow.h - print what happens in a session that another process runs */
#pragma once

#include "allm.h"

struct follow {
    const char *name;
    bool events;     /* JSON lines instead of the text */
    bool forever;    /* beyond the end of an operation */
    bool silent;     /* print nothing */
    char cursor[64]; /* where to begin, "": see allm_store_follow(); then the
                        place after the last event */
};

/* Follow until the operation ends, or a signal arrives; that cancels nothing.
 * Returns the exit code. */
int follow_session(allm_store *store, struct follow *f);

/* Set the cursor to the end of the session as it is now.  True: an operation is
 * open there. */
bool follow_from_now(allm_store *store, struct follow *f);

/* The exit code of the operation that has ended; an error or a question is
 * printed. */
int follow_outcome(allm_store *store, const struct follow *f);
