/*
 * tool_calls.c - allm_tool_calls(): run tool calls outside a chat
 *
 * A stream around one batch, which also runs the tools of a chat, with the
 * engine's tools, context, clock and trace.
 */
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/error.h"
#include "engine/engine.h"
#include "run/refused.h"
#include "run/seat.h"
#include "run/spans.h"
#include "run/stream.h"
#include "tool/batch.h"
#include "tool/executor.h"
#include "json/build.h"

struct tool_calls {
    struct machine machine;
    struct mem mem;
    allm_engine *engine;
    struct arena arena;         /* the request id, and the metadata of spans */
    struct batch *batch;
    const char *request_id;
    const allm_error *error;    /* not the batch's */
    struct trace trace;
    struct tool_spans spans;
    const allm_json *halt;      /* made on demand */
};

static struct tool_calls *as_tool_calls(const struct machine *m)
{
    return (struct tool_calls *)(uintptr_t)m;
}

static bool add_trace(struct tool_calls *c, size_t count,
                      struct batch_trace *out)
{
    const struct engine_core *core = engine_core(c->engine);
    if (!core->trace)
        return true;
    c->trace = (struct trace){ core->trace, core->trace_ud, core->clock };
    c->spans = (struct tool_spans){ .trace = &c->trace,
                                    .request_id = c->request_id,
                                    .model = engine_record(c->engine)->model,
                                    .metadata = spans_metadata(c->engine,
                                                               &c->arena, NULL),
                                    .arena = &c->arena, .count = count };
    *out = spans_of_tools(&c->spans);
    return c->spans.metadata != NULL;
}

static allm_status tool_calls_next(struct machine *m, allm_event **event,
                                   int64_t *again_ns)
{
    struct tool_calls *c = as_tool_calls(m);
    return c->error ? c->error->kind : batch_next(c->batch, event, again_ns);
}

static void tool_calls_stop(struct machine *m, bool cancelled)
{
    struct tool_calls *c = as_tool_calls(m);
    if (c->batch)
        batch_stop(c->batch);
    if (cancelled && !c->error)
        c->error = &error_cancelled;
}

static void tool_calls_free(struct machine *m)
{
    struct tool_calls *c = as_tool_calls(m);
    batch_free(c->batch);
    arena_release(&c->arena);
    allm_engine_free(c->engine);
    mem_free(c->mem, c, sizeof *c);
}

static const allm_error *tool_calls_error(const struct machine *m)
{
    const struct tool_calls *c = as_tool_calls(m);
    return c->error ? c->error : batch_error(c->batch);
}

static const char *tool_calls_request_id(const struct machine *m)
{
    return as_tool_calls(m)->request_id;
}

/* For allm_stream_wait(), an unknown tool is an error, not a result. */
static allm_status tool_calls_wait_status(struct machine *m)
{
    const allm_error *error = tool_calls_error(m);
    return error ? error->kind : ALLM_OK;
}

/* The metadata of the halt; NULL: there is no halt, or out of memory. */
static const allm_json *halt_metadata(struct tool_calls *c)
{
    const struct tool_result *halt = batch_halt(c->batch);
    if (c->halt || !halt)
        return c->halt;
    struct build b = build_object_in(&c->arena);
    result_write_halt(&b, halt);
    c->halt = build_finish(&b);
    return c->halt;
}

static const void *tool_calls_result(const struct machine *m,
                                     enum machine_result which)
{
    struct tool_calls *c = as_tool_calls(m);
    return which == MACHINE_BATCH        ? (const void *)c->batch
           : which == MACHINE_BATCH_HALT ? halt_metadata(c)
                                         : NULL;
}

static const struct machine_ops tool_calls_ops = {
    .next = tool_calls_next,
    .stop = tool_calls_stop,
    .free = tool_calls_free,
    .error = tool_calls_error,
    .request_id = tool_calls_request_id,
    .result = tool_calls_result,
    .blocked = tool_calls_wait_status,
};

static struct tool_calls *make_tool_calls(const allm_engine *e)
{
    struct mem mem = engine_core(e)->mem;
    struct tool_calls *c = mem_alloc(mem, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct tool_calls){ .machine = { &tool_calls_ops }, .mem = mem };
    arena_init(&c->arena, mem);
    c->engine = allm_engine_keep(e);
    return c;
}

static struct batch_opts batch_opts_of(const struct engine_core *core,
                                       const allm_tool_calls_opts *o)
{
    return (struct batch_opts){
        .policy = o->on_tool_error_fn ? ALLM_TOOL_POLICY_CALLBACK
                                      : o->on_tool_error,
        .on_error = o->on_tool_error_fn,
        .on_error_ud = o->on_tool_error_ud,
        .timeout_ms = o->tool_timeout_ms,
        .max_concurrency = o->max_concurrency,
        .live_events = o->live_tool_events != 0,
        .by_schema = o->validate_arguments != 0,
        .executor = o->executor ? o->executor : core->executor,
        .encoder = o->encoder ? o->encoder : core->encoder,
    };
}

static struct tool_env tool_env_of(const struct tool_calls *c, allm_stream *s,
                                   const allm_tool_calls_opts *o)
{
    const struct engine_core *core = engine_core(c->engine);
    return (struct tool_env){
        .mem = core->mem,
        .clock = core->clock,
        .ring = stream_ring,
        .waker = stream_waker(s),
        .workers = stream_workers,
        .workers_ud = s,
        .context = o->context ? o->context : engine_record(c->engine)->context,
        .session_id = o->session_id,
        .request_id = c->request_id,
    };
}

/* Sets the batch or the error. */
static void start_batch(struct tool_calls *c, allm_stream *s, size_t count,
                        const allm_tool_call *const *calls,
                        const allm_tool_calls_opts *o)
{
    const allm_engine_record *record = engine_record(c->engine);
    struct batch_opts opts = batch_opts_of(engine_core(c->engine), o);
    bool own = o->tools != NULL;
    c->request_id = o->request_id
                        ? arena_text(&c->arena, o->request_id)
                        : trace_id(engine_core(c->engine)->random, &c->arena);
    if (c->request_id && add_trace(c, count, &opts.trace)) {
        struct tool_env env = tool_env_of(c, s, o);
        size_t n = own ? o->tool_count : record->tool_count;
        const allm_tool *const *tools = executor_tools(
            opts.executor, &c->arena, own ? o->tools : record->tools, &n);
        if (tools)
            c->batch = batch_new(&env, count, calls, n, tools, &opts);
    }
    if (!c->batch)
        c->error = status_nomem();
}

allm_stream *allm_tool_calls(const allm_engine *e, size_t count,
                             const allm_tool_call *const *calls,
                             const allm_tool_calls_opts *caller_opts)
{
    static const allm_error no_size =
        STATUS_ERROR(ALLM_ERR_MISUSE, "struct_size",
                     "the size of the options is wrong; fill them with "
                     "ALLM(tool_calls_opts, ...)");
    allm_tool_calls_opts opts;
    bool valid_size = caller_struct_take(&opts, sizeof opts, caller_opts);
    if (!e || (count && !calls))
        return refused_missing(e, "invalid_request", "calls");
    allm_stream *s = stream_for(e);
    if (!s)
        return NULL;
    struct tool_calls *c = make_tool_calls(e);
    if (c && valid_size)
        start_batch(c, s, count, calls, &opts);
    else if (c)
        c->error = &no_size;
    return stream_begin(s, c ? &c->machine : NULL);
}
