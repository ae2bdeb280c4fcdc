/* run.h - one execution of a tool's function, and its outcome */
#pragma once

#include "allm.h"
#include "tool/batch_shared.h"
#include "tool/outcome.h"

/*
 * Allocated in shared->home.  A thread that answers first claims the run under
 * the lock (`answered`), then creates the outcome in `memory` without the lock,
 * and finally publishes it under the lock (`ready`).
 */
struct allm_tool_run {
    struct batch_shared *shared;
    const allm_tool_call *call;
    const allm_tool *tool;                  /* NULL: not declared */
    const allm_executor *executor;          /* NULL: the tool's function */
    const allm_json *arguments;
    const char *key;                        /* idempotency key, or NULL */
    struct job job;
    bool in_worker;                         /* the job was submitted */
    bool is_callback;                       /* not a call: must not defer */
    bool is_verdict;                        /* on_tool_error: its halt needs no
                                               reason */
    bool decided;                           /* somebody approved this call */
    const allm_json *decided_reach;         /* and this; NULL: not known */
    const void *passed;                     /* the gate whose rules allowed it;
                                               or NULL */

    /* Guarded by shared->lock. */
    bool answered;                          /* claimed; never reset */
    bool ready;                             /* the outcome is published */
    bool deferred;
    bool abandoned;                         /* the batch no longer waits */
    bool busy;                              /* the function runs or is queued */
    int64_t began_ns;                       /* INT64_MIN: not yet */
    bool paused;                            /* since: */
    int64_t paused_ns;
    uint64_t stamp;                         /* place in the order of answers */
    allm_tool_fn later;                     /* of allm_tool_later(); or NULL */
    void *later_ud;
    int64_t later_ns;
    allm_tool_cancel_fn on_cancel;          /* or NULL; called under the lock */
    void *on_cancel_ud;

    struct arena memory;                    /* holds the outcome */
    struct outcome outcome;
};

/* Creates a run in d->home.  Call and arguments must be in d->home; the tool
 * and the executor must live at least as long.  NULL: out of memory. */
struct allm_tool_run *run_new(struct batch_shared *d,
                              const allm_tool_call *call,
                              const allm_json *arguments, const allm_tool *tool,
                              const allm_executor *executor);

/* Start it: in a worker, or at once if it is inline or there are no workers. */
void run_start(struct allm_tool_run *r);

/*
 * EVENT: the outcome is ready.  AGAIN: call again at *again_ns, or earlier if
 * the waker is rung.  Calls the function of allm_tool_later() when it is due.
 * timeout_ns counts from the start of the run; INT64_MAX: no timeout; a tool
 * with ALLM_TOOL_OWN_TIME has its own.  After
 * the timeout the outcome is a FAILURE and the function is abandoned.
 */
allm_status run_poll(struct allm_tool_run *r, int64_t timeout_ns,
                     int64_t *again_ns);

/* From now on it waits for a person, or no longer: that time does not count for
 * its timeout.  From any thread. */
void run_pause(struct allm_tool_run *r, bool paused);

/* End it with this outcome, unless it has one already, and abandon the
 * function. */
void run_expire(struct allm_tool_run *r, struct outcome o);

/* Stop waiting for it: a queued job never begins, an answer is dropped. */
void run_abandon(struct allm_tool_run *r);

/*
 * To answer, claim the run.  MINE: create the outcome in r->memory and publish
 * it.  DROPPED: the run is abandoned and the answer is ignored.  TWICE: the run
 * already has an answer.
 */
enum run_claim { RUN_MINE, RUN_DROPPED, RUN_TWICE };
enum run_claim run_claim(struct allm_tool_run *r);
void run_publish(struct allm_tool_run *r, struct outcome o);

/* allm_tool_ok() with images, as in struct outcome; NULL: none. */
allm_status run_answer(struct allm_tool_run *r, const allm_json *value,
                       const allm_json *images);

/* End it with a FAILURE if it has no answer yet.  The reason is a literal, and
 * so is the detail, unless it is copied. */
void run_fail(struct allm_tool_run *r, const char *reason, const char *detail);
void run_fail_copy(struct allm_tool_run *r, const char *reason,
                   const char *detail);
/* The same: memory ran out. */
void run_nomem(struct allm_tool_run *r);
