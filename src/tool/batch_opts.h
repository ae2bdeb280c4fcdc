/* batch_opts.h - how a batch runs its calls, and what each came to */
#ifndef TOOL_BATCH_OPTS_H
#define TOOL_BATCH_OPTS_H

#include "allm.h"
#include "tool/encoder.h"
#include "tool/outcome.h"

#define BATCH_TIMEOUT_MS 30000

/* Spans of calls, told to whoever traces; all may be NULL. */
struct batch_trace {
    void *ud;
    void (*start)(void *ud, size_t index, const allm_tool_call *call,
                  const allm_tool *tool);
    void (*stop)(void *ud, size_t index, const allm_json *result);
    /* Its time is over: there is no stop. */
    void (*timeout)(void *ud, size_t index, const allm_error *error);
    /* A step of a recipe begins. */
    void (*step)(void *ud, const allm_tool_call *call, const char *label,
                 const char *phase);
};

/* { 0 } is the default of a chat. */
struct batch_opts {
    allm_tool_policy policy;
    allm_tool_error_fn on_error;        /* for ..._CALLBACK */
    void *on_error_ud;
    uint32_t timeout_ms;                /* 0: 30 s; UINT32_MAX: none */
    const int64_t *late_ns;             /* when nobody waits any longer; NULL:
                                           never */
    uint32_t max_concurrency;           /* 0: twice the CPUs */
    bool live_events;                   /* started events at the start */
    bool by_schema;                     /* check arguments by the schema */
    enum encoder_style style;
    const allm_executor *executor;      /* NULL: the tool's function */
    const allm_encoder *encoder;        /* NULL: JSON */
    struct batch_trace trace;
};

/* What one call came to, in the order of the calls. */
struct batch_result {
    const allm_tool_call *call;
    const allm_tool *tool;              /* NULL: tool_help */
    const allm_message *message;        /* counted: allm_message_keep() it */
    struct outcome outcome;             /* of the call itself, or OK with the
                                           replacement of a callback */
    const allm_error *error;            /* what went wrong in the end; a
                                           replacement leaves none */
    const allm_json *halt;              /* metadata of its halt; NULL: none */
    bool done;
    bool is_error;                      /* the model reads of a failure */
};

#endif
