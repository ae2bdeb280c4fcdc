/* batch_opts.h - options of a batch of tool calls */
#pragma once

#include "allm.h"
#include "tool/encoder.h"
#include "tool/result.h"

#define BATCH_TIMEOUT_MS 30000

/* Callbacks for the spans of calls; each may be NULL. */
struct batch_trace {
    void *ud;
    void (*start)(void *ud, size_t index, const allm_tool_call *call,
                  const allm_tool *tool);
    /* Called before the policy for failures is applied; `error` is the error
     * of a FAILURE. */
    void (*stop)(void *ud, size_t index, const struct outcome *outcome,
                 const allm_error *error);
    /* Called when a step of a recipe begins. */
    void (*step)(void *ud, const allm_tool_call *call, const char *label,
                 const char *phase);
};

/*
 * Callbacks that write a journal; all NULL: there is none.  A call begins when
 * its intent is written, and its events are emitted when its result is.
 */
struct batch_journal {
    void *ud;
    size_t most;                        /* bytes of a content; 0: no limit */
    /* Add an entry to the next commit; false: out of memory. */
    bool (*intent)(void *ud, const struct tool_result *r, allm_effect effect);
    bool (*result)(void *ud, const struct tool_result *r, allm_effect effect);
    /* Write the added entries.  OK: they are written.  AGAIN: not yet; call
     * again at *again_ns, if that is earlier, or when the waker is rung.
     * < 0: *error is the reason. */
    allm_status (*flush)(void *ud, int64_t *again_ns, const allm_error **error);
};

/* A decision about a call that was made before, as in allm_journal_tool. */
struct batch_decision {
    uint32_t decided;                   /* 0: none, 1: allowed, 2: denied */
    const char *why;                    /* or NULL */
    const allm_json *reach;             /* that was approved, or NULL */
};

/* { 0 } means the defaults of a chat. */
struct batch_opts {
    allm_tool_policy policy;
    allm_tool_error_fn on_error;        /* for POLICY_CALLBACK */
    void *on_error_ud;
    uint32_t timeout_ms;                /* 0: 30 s; UINT32_MAX: none */
    const int64_t *late_ns;             /* deadline of the whole chat or agent;
                                           NULL: none */
    uint32_t max_concurrency;           /* 0: twice the number of CPUs */
    bool live_events;                   /* emit started events at the start */
    bool by_schema;                     /* check arguments against the schema */
    size_t max_output;                  /* bytes of a content; 0: no limit */
    /* Called with the complete content before it is cut; false: out of
     * memory.  May be NULL. */
    bool (*keep_whole)(void *ud, const char *call_id, struct slice text);
    void *keep_ud;
    enum encoder_style style;
    const allm_executor *executor;      /* NULL: the tool's function */
    const allm_encoder *encoder;        /* NULL: JSON */
    const allm_gate *gate;              /* decides what may begin; or NULL */
    const struct batch_decision *decisions;     /* of the calls; or NULL */
    struct batch_trace trace;
    struct batch_journal journal;
    const size_t *indexes;              /* positions of the calls in the answer;
                                           NULL: their order */
};
