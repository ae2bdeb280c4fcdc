/* spans.c - what calls, turns and their tools tell of themselves */
#include "run/spans.h"

#include "data/encode.h"
#include "data/response.h"
#include "data/tool_call.h"
#include "run/setup.h"
#include "json/build.h"
#include "json/json.h"

/* ------------------------------------------------------------------- calls --- */

/* Which engine, and whom it asks. */
static const allm_json *about(const allm_engine *e, struct arena *a)
{
    struct build b;
    const char *id = engine_record(e)->id;
    const struct registry_row *row = engine_row(e);
    build_init(&b, a);
    build_object(&b);
    build_key(&b, SLICE("engine"));
    build_text(&b, slice_of(id ? id : ""));
    if (row) {
        build_key(&b, SLICE("provider"));
        build_text(&b, slice_of(row->name ? row->name : ""));
    }
    build_end(&b);
    return build_done(&b);
}

bool spans_begin(struct call_spans **out, const allm_engine *e, struct arena *a,
                 const char *name, const char *request_id, const char *model)
{
    const struct engine_core *core = engine_core(e);
    *out = NULL;
    if (!core->trace)
        return true;
    model = arena_text(a, model);
    struct call_spans *s = arena_zero(a, sizeof *s);
    const allm_json *metadata = about(e, a);
    if (!s || !metadata)
        return false;
    s->trace = (struct trace){ core->trace, core->trace_ud, core->clock };
    s->mem = core->mem;
    trace_begin(&s->outer, &s->trace, name, request_id, model, metadata);
    trace_begin(&s->inner, &s->trace, "stream", request_id, model, metadata);
    *out = s;
    return true;
}

void spans_fail(struct call_spans *s, const allm_error *error)
{
    if (!s)
        return;
    bool ours = error->kind == ALLM_ERR_MISUSE || error->kind == ALLM_ERR_NOMEM;
    void (*end)(struct trace_span *, const allm_error *) = ours ? trace_fail
                                                                : trace_refuse;
    end(&s->inner, error);
    end(&s->outer, error);
}

void spans_end_with(struct trace_span *span, struct arena *a, const char *key,
                    const struct shape *shape, const void *value)
{
    struct build b;
    const allm_error *error = NULL;
    if (!span->trace)
        return;
    build_init(&b, a);
    build_object(&b);
    build_key(&b, slice_of(key));
    const allm_json *told =
        value ? encode_to_json(a, shape, value, ALLM_FORM_PLAIN, &error) : NULL;
    build_value(&b, told ? told : json_null());
    build_end(&b);
    trace_end(span, build_done(&b));
}

void spans_end(struct call_spans *s, const allm_response *response)
{
    struct arena a;
    if (!s)
        return;
    trace_end(&s->inner, NULL);
    if (!response) {
        trace_end(&s->outer, NULL);
        return;
    }
    arena_init(&a, s->mem);
    spans_end_with(&s->outer, &a, "response", &response_shape, response);
    arena_release(&a);
}

/* ------------------------------------------------------------------- tools --- */

/* {"tool": name, "tool_call": {...}} over what all spans tell. */
static const allm_json *about_tool(struct tool_spans *t,
                                   const allm_tool_call *call)
{
    struct build b;
    const allm_error *error = NULL;
    build_init(&b, t->arena);
    build_object(&b);
    build_key(&b, SLICE("tool"));
    build_text(&b, slice_of(call->name));
    build_key(&b, SLICE("tool_call"));
    build_value(&b, encode_to_json(t->arena, &tool_call_shape, call,
                                   ALLM_FORM_PLAIN, &error));
    build_end(&b);
    const allm_json *mine = build_done(&b);
    return mine ? json_merge(t->arena, t->setup->about, mine) : NULL;
}

static struct trace_span *span_at(struct tool_spans *t, size_t index)
{
    return t->each && index < t->count ? &t->each[index] : NULL;
}

static void starts(void *ud, size_t index, const allm_tool_call *call,
                   const allm_tool *tool)
{
    struct tool_spans *t = ud;
    const struct setup *u = t->setup;
    (void)tool;
    if (!t->each)
        t->each = arena_zero(t->arena, (t->count + 1) * sizeof *t->each);
    struct trace_span *span = span_at(t, index);
    if (span)
        trace_begin(span, &u->trace, "tool", u->request_id, u->model,
                    about_tool(t, call));
}

static void stops(void *ud, size_t index, const allm_json *result)
{
    struct tool_spans *t = ud;
    struct trace_span *span = span_at(t, index);
    struct build b;
    if (!span)
        return;
    build_init(&b, t->arena);
    build_object(&b);
    build_key(&b, SLICE("result"));
    build_value(&b, result ? result : json_null());
    build_end(&b);
    trace_end(span, build_done(&b));
}

static void is_late(void *ud, size_t index, const allm_error *error)
{
    struct trace_span *span = span_at(ud, index);
    if (span)
        trace_fail(span, error);
}

struct batch_trace spans_of_tools(struct tool_spans *t)
{
    return (struct batch_trace){ .ud = t, .start = starts, .stop = stops,
                                 .timeout = is_late };
}
