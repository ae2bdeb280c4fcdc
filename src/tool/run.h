/* run.h - one call of one tool: where it runs, and its answer */
#ifndef TOOL_RUN_H
#define TOOL_RUN_H

#include "allm.h"
#include "tool/batch_shared.h"
#include "tool/outcome.h"

/*
 * Lives in the home of its shared.  Whoever answers claims it (`answered`) under
 * the lock, copies the answer into `memory` without it, then shows it
 * (`ready`) under the lock again.
 */
struct allm_tool_run {
    struct batch_shared *shared;
    const allm_tool_call *call;
    const allm_tool *tool;                  /* NULL: nowhere declared */
    const allm_executor *executor;          /* NULL: the tool's function */
    const allm_json *arguments;
    struct job job;
    bool in_worker;                         /* the job was submitted */
    bool is_callback;                       /* not a call: may not defer */
    bool is_verdict;                        /* of on_tool_error: a halt needs
                                               no reason */

    /* By the shared's lock. */
    bool answered;                          /* claimed, for good */
    bool ready;                             /* the outcome is there */
    bool deferred;
    bool gone;                              /* nobody waits for it */
    bool busy;                              /* its function runs, or waits
                                               for a worker */
    int64_t began_ns;                       /* INT64_MIN: not yet */
    uint64_t stamp;                         /* the order of answers */
    allm_tool_fn later;                     /* NULL: not asked for */
    void *later_ud;
    int64_t later_ns;

    struct arena memory;                    /* of the answer */
    struct outcome outcome;
};

/* In the shared's home; call and arguments must live there, the tool and the
 * executor at least as long.  NULL: no memory. */
struct allm_tool_run *run_new(struct batch_shared *d,
                              const allm_tool_call *call,
                              const allm_json *arguments, const allm_tool *tool,
                              const allm_executor *executor);

/* Begin it: in a worker, or at once if it is inline or there are no workers. */
void run_start(struct allm_tool_run *r);

/*
 * How is it?  EVENT: the outcome is there.  AGAIN: not before *again_ns, or
 * until rung.  A function whose time has come (allm_tool_later) is called
 * here.  timeout_ns counts from its start; INT64_MAX: none.  When it is over
 * the outcome is a timeout, and nobody waits for the function any longer.
 */
allm_status run_look(struct allm_tool_run *r, int64_t timeout_ns,
                     int64_t *again_ns);

/* Its time is over, and this is the outcome, unless it has one already.  Nobody
 * waits for the function any longer. */
void run_expire(struct allm_tool_run *r, struct outcome o);

/* Nobody waits for it: a queued job never begins, an answer is dropped. */
void run_abandon(struct allm_tool_run *r);

/*
 * To answer: claim it; if it is MINE make the answer in r->memory and show it.
 * DROPPED: nobody waits, and that was the answer.  TWICE: it has one.
 */
enum run_claim { RUN_MINE, RUN_DROPPED, RUN_TWICE };
enum run_claim run_claim(struct allm_tool_run *r);
void run_show(struct allm_tool_run *r, struct outcome o);

/* Answer with a ToolError if it has no answer yet; the detail is a literal. */
void run_fail(struct allm_tool_run *r, const char *reason, const char *detail);

#endif
