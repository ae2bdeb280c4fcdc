/*
 * approve.h - decisions about calls that a gate left undecided
 *
 *      metadata.approvals  [{"id", "name", "arguments", "reach"}]   who waits
 *      metadata.approved   [{"id", "allow", "why"}]                 decisions
 */
#pragma once

#include "allm.h"
#include "base/arena.h"

struct fold;

/* Do calls wait, and are they all decided?  Then a continue runs them. */
bool approve_ready(const allm_session_record *r);

/* The record with this decision, which replaces an earlier one; a root.  NULL:
 * *error, in the arena, says why. */
allm_session_record *approve_decide(const allm_session_record *r,
                                    const char *id, bool allow, const char *why,
                                    struct arena *a, const allm_error **error);

/* The record without the decisions about calls that have begun (NULL: about
 * all); a root.  Frees the given one.  NULL: out of memory. */
allm_session_record *approve_consume(allm_session_record *r,
                                     const struct fold *begun);

/* The turn that is run again: a reference to its answer, the messages before
 * it, and its results so far. */
struct approve_turn {
    allm_thread *thread;        /* a root */
    allm_response *response;    /* a root */
    allm_journal_replay replay; /* in the arena */
};

/* Make the turn of the calls that wait.  NULL, or the error; release it in
 * either case. */
const allm_error *approve_turn_make(struct approve_turn *t, struct arena *a,
                                    const allm_session_record *r);
void approve_turn_release(struct approve_turn *t);

/*
 * For a resume of such a turn: the messages before its answer, as a root, or
 * NULL; and the decisions about calls that have not begun, appended to a list
 * with enough room.  False: out of memory.
 */
allm_thread *approve_thread_before(const allm_thread *thread);
size_t approve_count(const allm_session_record *r);
bool approve_list(const allm_session_record *r, const struct fold *begun,
                  struct arena *a, const allm_journal_tool **list,
                  size_t *count);
