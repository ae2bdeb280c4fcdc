/* trace.h - tell what happens: spans, retries, warnings */
#ifndef ENGINE_TRACE_H
#define ENGINE_TRACE_H

#include "allm.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"

/* Whom to tell; fn NULL: nobody, and nothing below costs more than asking. */
struct trace {
    allm_trace_fn fn;
    void *ud;
    struct clock clock;
};

static inline bool trace_on(const struct trace *t)
{
    return t && t->fn;
}

/* A span that has begun.  { 0 } is one that has not, or was already ended. */
struct trace_span {
    const struct trace *trace;
    const char *name, *request_id, *model;
    const allm_json *metadata;
    int64_t began_ns;
};

/*
 * Begin a span: generate, stream, step, chat, tool or image.  All that is
 * given must live until it ends.  False, and nothing is told: there is no such
 * span.
 */
bool trace_begin(struct trace_span *s, const struct trace *t, const char *name,
                 const char *request_id, const char *model,
                 const allm_json *metadata);

/* End it, once: a second end is ignored.  `extras` go over the metadata it
 * began with; a failure adds kind, reason and error. */
void trace_end(struct trace_span *s, const allm_json *extras);
void trace_fail(struct trace_span *s, const allm_error *error);

/* End it with an error that is an answer like others, and no response. */
void trace_refuse(struct trace_span *s, const allm_error *error);

/* ("adapter", "retry"): attempt number `attempt` failed; another will follow
 * after the delay. */
void trace_retry(const struct trace *t, const char *request_id,
                 const char *provider, int64_t attempt, int64_t delay_ms,
                 const char *reason);

/* ("engine", "warning"): something odd that does not stop the call. */
void trace_warn(const struct trace *t, const char *request_id,
                const char *model, const char *reason);

/* ("agent", "loop_iteration"): tools ran, and the model is asked again;
 * ("agent", "complete"): it has an answer, or its budget is used up.  The count
 * of iterations is told as `iteration` or as `total_iterations`. */
void trace_agent(const struct trace *t, const char *request_id,
                 const char *what, uint64_t iterations, uint64_t tool_calls);

/* Any event: times are filled in. */
void trace_tell(const struct trace *t, allm_trace_event event);

/* A new request id; NULL: no memory, or no random bytes. */
const char *trace_id(struct random r, struct arena *a);

#endif
