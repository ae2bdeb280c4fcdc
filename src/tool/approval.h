/* approval.h - a decision about one call, made by a gate at once or later */
#pragma once

#include "allm_executor.h"
#include "tool/batch_shared.h"

/* WAITING: not answered.  ABSENT: the call does not pass a gate. */
enum verdict {
    VERDICT_ABSENT,
    VERDICT_WAITING,
    VERDICT_ALLOWED,
    VERDICT_DENIED,
    VERDICT_LEFT
};

/* Called once, by the thread that allows the call, before the batch learns of
 * it.  An error means that the answer counts this time, and was not stored. */
typedef allm_status (*approval_allowed_fn)(void *ud, const allm_approval *,
                                           allm_approval_scope);

/* Allocated in shared->home, of which the owner of the approval holds a
 * reference. */
struct allm_approval {
    struct batch_shared *shared;
    const allm_tool_call *call;
    const allm_json *arguments;         /* with which the tool will run */
    const char *session_id;             /* borrowed from shared, or NULL */
    struct arena memory;                /* holds the members below */
    const allm_json *reach;             /* or NULL */
    approval_allowed_fn on_allowed;
    void *on_allowed_ud;
    struct allm_home *held;             /* of that function; or NULL */
    const void *passed;                 /* the gate whose rules it passed, for
                                           its executor; or NULL */
    const char *why;                    /* of a denied call, or NULL */
    enum verdict verdict;               /* guarded by shared->lock */
};

/* Creates one that waits, with a reference for its owner.  The call and its
 * arguments must be in d->home.  NULL: out of memory. */
struct allm_approval *approval_new(struct batch_shared *d,
                                   const allm_tool_call *call,
                                   const allm_json *arguments);

/* Before it is answered: set what the call can access (copied), and a function
 * to call when it is allowed, whose data live in a home, which is kept.  False:
 * out of memory. */
bool approval_set_reach(struct allm_approval *a, const allm_json *reach);
void approval_on_allowed(struct allm_approval *a, approval_allowed_fn fn,
                         void *ud, struct allm_home *home);

/* The metadata of a turn whose gate left these calls undecided: {"approvals":
 * [{"id", "name", "arguments", "reach"}]}.  NULL: out of memory. */
const allm_json *approval_metadata(struct arena *a, size_t count,
                                   const struct allm_approval *const *left);

/* The answer so far. */
enum verdict approval_verdict(const struct allm_approval *a);
