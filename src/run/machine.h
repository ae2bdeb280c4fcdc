/* machine.h - what a stream runs: one answer, a step, a whole chat */
#ifndef RUN_MACHINE_H
#define RUN_MACHINE_H

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

/* What MACHINE_TASK gives. */
struct task_result {
    const char *name;           /* what was asked: "embed" */
    const void *value;
};

struct machine_ops {
    /*
     * EVENT: *event is the next one, ours to number, alive until the next
     * call.  AGAIN: not before *again_ns (INT64_MAX: when woken; MACHINE_BUSY:
     * at once, it only gave others a chance).  OK: the end; results are there.
     * < 0: failed for good, see error().
     */
    allm_status (*next)(struct machine *m, allm_event **event,
                        int64_t *again_ns);
    /* Let go of the adapter, exactly once however often it is called; the
     * results so far are made.  `cancelled`: the caller wanted it. */
    void (*stop)(struct machine *m, bool cancelled);
    void (*free)(struct machine *m);
    const allm_error *(*error)(const struct machine *m);
    /* Of one that is held: has it failed, so that next() is worthwhile
     * nevertheless?  No: ask again when it is rung, and at *again_ns, which is
     * INT64_MAX before.  NULL: when it has an error. */
    bool (*failed)(const struct machine *m, int64_t *again_ns);
    const allm_response *(*response)(const struct machine *m);
    const char *(*request_id)(const struct machine *m);
    /* The result of that kind, once it has ended; NULL: it has none.  This
     * function and the next may be NULL. */
    const void *(*result)(const struct machine *m, enum machine_result which);
    /* The whole of a result that was cut; NULL: it was not. */
    const char *(*output)(const struct machine *m, const char *call_id,
                          size_t *len);
    /* How the blocking door ends, where the other ends with OK. */
    allm_status (*blocked)(struct machine *m);
};

struct machine {
    const struct machine_ops *ops;
};

#endif
