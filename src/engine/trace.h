/* trace.h - report what happens: spans, retries, warnings */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"

/* The callback to report to.  If fn is NULL, the functions below do nothing but
 * check that. */
struct trace {
    allm_trace_fn fn;
    void *ud;
    struct clock clock;
};

static inline bool trace_on(const struct trace *t)
{
    return t && t->fn;
}

/* An open span.  { 0 } is one that was not opened, or has already ended. */
struct trace_span {
    const struct trace *trace;
    const char *name, *request_id, *model;
    const allm_json *metadata;
    int64_t began_ns;
};

/*
 * Begin a span: generate, stream, step, chat, tool or image.  The arguments
 * must live until it ends.  False: there is no such span; nothing is emitted.
 */
bool trace_begin(struct trace_span *s, const struct trace *t, const char *name,
                 const char *request_id, const char *model,
                 const allm_json *metadata);

/* End a span.  A second end is ignored. `extras` are merged into the metadata
 * it began with; a failure adds kind, reason and error. */
void trace_end(struct trace_span *s, const allm_json *extras);
void trace_fail(struct trace_span *s, const allm_error *error);

/* End a span normally with an error as its result, and no response. */
void trace_refuse(struct trace_span *s, const allm_error *error);

/* ("adapter", "retry"): attempt number `attempt` failed; the next one follows
 * after the delay. */
void trace_retry(const struct trace *t, const char *request_id,
                 const char *provider, int64_t attempt, int64_t delay_ms,
                 const char *reason);

/* ("engine", "warning"): something unusual that does not stop the call. */
void trace_warn(const struct trace *t, const char *request_id,
                const char *model, const char *reason);

/* ("agent", "loop_iteration"): tools ran, and the model is called again;
 * ("agent", "complete"): it has answered, or its budget is used up.  The number
 * of iterations is in `iteration` or in `total_iterations`. */
void trace_agent(const struct trace *t, const char *request_id,
                 const char *what, uint64_t iterations, uint64_t tool_calls);

/* Emit any event; its times are filled in. */
void trace_emit(const struct trace *t, allm_trace_event event);

/* A new request id; NULL: out of memory, or no random bytes. */
const char *trace_id(struct random r, struct arena *a);
