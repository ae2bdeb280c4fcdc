/* batch_opts.h - how a batch runs its calls */
#ifndef TOOL_BATCH_OPTS_H
#define TOOL_BATCH_OPTS_H

#include "allm.h"
#include "tool/encoder.h"
#include "tool/result.h"

#define BATCH_TIMEOUT_MS 30000

/* Receives the spans of calls; each function may be NULL. */
struct batch_trace {
    void *ud;
    void (*start)(void *ud, size_t index, const allm_tool_call *call,
                  const allm_tool *tool);
    /* Before the policy for failures is applied; `error` is that of a
     * FAILURE. */
    void (*stop)(void *ud, size_t index, const struct outcome *outcome,
                 const allm_error *error);
    /* A step of a recipe begins. */
    void (*step)(void *ud, const allm_tool_call *call, const char *label,
                 const char *phase);
};

/* { 0 } has the defaults of a chat. */
struct batch_opts {
    allm_tool_policy policy;
    allm_tool_error_fn on_error;        /* for ..._CALLBACK */
    void *on_error_ud;
    uint32_t timeout_ms;                /* 0: 30 s; UINT32_MAX: none */
    const int64_t *late_ns;             /* when the whole call times out; NULL:
                                           never */
    uint32_t max_concurrency;           /* 0: twice the CPUs */
    bool live_events;                   /* started events at the start */
    bool by_schema;                     /* check arguments by the schema */
    size_t max_output;                  /* bytes of a content; 0: any number */
    /* A content is cut: keep the whole of it.  False: no memory.  Or NULL. */
    bool (*keep_whole)(void *ud, const char *call_id, struct slice text);
    void *keep_ud;
    enum encoder_style style;
    const allm_executor *executor;      /* NULL: the tool's function */
    const allm_encoder *encoder;        /* NULL: JSON */
    struct batch_trace trace;
};

#endif
