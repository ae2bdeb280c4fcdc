/* spans.h - the trace spans of calls, turns and tools */
#pragma once

#include "engine/engine.h"
#include "engine/trace.h"
#include "tool/batch_opts.h"

struct shape;

/* The spans of one answer: the call, and the stream inside it. */
struct call_spans {
    struct trace trace;
    struct mem mem;
    struct trace_span outer, inner;
};

/* Begin both; *out is NULL if the engine has no trace function.  The request id
 * must live as long as the arena.  False: out of memory. */
bool spans_begin(struct call_spans **out, const allm_engine *e, struct arena *a,
                 const char *name, const char *request_id, const char *model);

/* End both, once: with an error, or with the response (NULL: abandoned). */
void spans_fail(struct call_spans *s, const allm_error *error);
void spans_end(struct call_spans *s, const allm_response *response);

/* {"engine": id, "provider": name}; the row may be NULL.  NULL: out of
 * memory. */
const allm_json *spans_metadata(const allm_engine *e, struct arena *a,
                                const struct registry_row *row);

/* End a span with {key: value}; the value NULL is written as null. */
void spans_end_with(struct trace_span *span, struct arena *a, const char *key,
                    const struct shape *shape, const void *value);

/* The spans of the tools of a turn, in the order of the calls. */
struct tool_spans {
    const struct trace *trace;
    const char *request_id, *model;
    const allm_json *metadata;  /* common to all spans */
    struct arena *arena;        /* of the metadata */
    size_t count;               /* of calls; set before the first begins */
    struct trace_span *spans;   /* NULL: none has begun */
};

struct batch_trace spans_of_tools(struct tool_spans *t);
