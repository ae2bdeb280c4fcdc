/* machine.h - the work that a stream runs: an answer, a step, a chat */
#pragma once

#include "allm.h"

#include <stdint.h>

#define MACHINE_BUSY INT64_MIN

struct machine;

enum machine_result {
    MACHINE_STEP, MACHINE_CHAT, MACHINE_AGENT, MACHINE_TASK,
    MACHINE_HALT,               /* the struct tool_result that halts a step */
    MACHINE_BATCH,              /* the struct batch of allm_tool_calls() */
    MACHINE_BATCH_HALT          /* metadata of its halt, an allm_json */
};

/* The result of kind MACHINE_TASK. */
struct task_result {
    const char *name;           /* of the task: "embed" */
    const void *value;
};

struct machine_ops {
    /*
     * EVENT: *event is the next event; the stream sets its number; valid until
     * the next call.  AGAIN: nothing before *again_ns (INT64_MAX: until the
     * waker rings; MACHINE_BUSY: call again at once, others may run first).
     * OK: the end; the results are ready.  < 0: the machine has failed, see
     * error().
     */
    allm_status (*next)(struct machine *m, allm_event **event,
                        int64_t *again_ns);
    /* Release the adapter; more than one call has no further effect.  Makes the
     * partial results.  `cancelled`: on the request of the caller. */
    void (*stop)(struct machine *m, bool cancelled);
    void (*free)(struct machine *m);
    const allm_error *(*error)(const struct machine *m);
    /* For a held stream: has the machine failed, so that next() must be called
     * nevertheless?  If not, check again when the waker rings, and at
     * *again_ns, which the caller sets to INT64_MAX.  NULL: it has failed if it
     * has an error. */
    bool (*failed)(const struct machine *m, int64_t *again_ns);
    /* This function and the next ones may be NULL. */
    const allm_response *(*response)(const struct machine *m);
    const char *(*request_id)(const struct machine *m);
    /* The result of this kind after the end; NULL if it has none. */
    const void *(*result)(const struct machine *m, enum machine_result which);
    /* The full text of a truncated tool result; NULL if it was not
     * truncated. */
    const char *(*output)(const struct machine *m, const char *call_id,
                          size_t *len);
    /* The status for allm_stream_wait(), where next() ends with OK. */
    allm_status (*blocked)(struct machine *m);
};

struct machine {
    const struct machine_ops *ops;
};
