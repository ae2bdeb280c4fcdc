/*
 * batch.h - the calls of one turn as a machine
 *
 * It never waits: batch_next() answers EVENT, AGAIN with a time, or OK.
 */
#ifndef TOOL_BATCH_H
#define TOOL_BATCH_H

#include "allm_ext.h"
#include "tool/desk.h"
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

struct batch;

/*
 * Calls and tools are copied, or shared where they are counted.  Never NULL
 * but for lack of memory: ask batch_error().  An unknown tool (kind ENGINE)
 * or misuse is found here, before anything runs.
 */
struct batch *batch_new(const struct tool_env *env, size_t count,
                        const allm_tool_call *const *calls, size_t tool_count,
                        const allm_tool *const *tools,
                        const struct batch_opts *opts);

/*
 * EVENT: *event is lent until the next call.  AGAIN: not before *again_ns
 * (INT64_MAX: when rung).  OK: all calls are done.  < 0: misuse or no memory.
 * Of an unknown tool one error event is told, then OK.
 */
allm_status batch_next(struct batch *b, allm_event **event, int64_t *again_ns);

/* Nobody waits any longer: functions that run are left alone, others never
 * begin.  Results so far stay. */
void batch_stop(struct batch *b);
void batch_free(struct batch *b);       /* NULL is fine */

/* Why nothing could run, or memory ran out; else NULL. */
const allm_error *batch_error(const struct batch *b);

/* Results are there from the start; `done` tells whether the rest counts.  NULL:
 * there is no such call. */
size_t batch_count(const struct batch *b);
const struct batch_result *batch_at(const struct batch *b, size_t index);

/* Did late_ns end a call, or keep it from beginning?  That call has failed with
 * a timeout. */
bool batch_was_cut(const struct batch *b);

/* The halt that counts, of the call that comes first; NULL: none (so far). */
const struct batch_result *batch_halt(const struct batch *b);

#endif
