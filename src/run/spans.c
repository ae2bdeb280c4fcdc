/* spans.c - the trace spans of calls, turns and tools */
#include "run/spans.h"

#include "data/encode.h"
#include "data/response.h"
#include "data/tool_call.h"
#include "json/build.h"
#include "json/json.h"

const allm_json *spans_metadata(const allm_engine *e, struct arena *a,
                                const struct registry_row *row)
{
    const char *id = engine_record(e)->id;
    struct build b = build_object_in(a);
    build_text_at(&b, "engine", slice_of(id ? id : ""));
    build_text_if(&b, "provider", row ? row->name : NULL);
    return build_finish(&b);
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
    const allm_json *metadata = spans_metadata(e, a, engine_row(e));
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
    if (!span->trace)
        return;
    const allm_json *encoded =
        value ? encode_to_json(a, shape, value, ALLM_FORM_PLAIN, NULL) : NULL;
    trace_end(span, build_one(a, key, encoded ? encoded : json_null()));
}

void spans_end(struct call_spans *s, const allm_response *response)
{
    if (!s)
        return;
    trace_end(&s->inner, NULL);
    if (!response) {
        trace_end(&s->outer, NULL);
        return;
    }
    struct arena a = arena_in(s->mem);
    spans_end_with(&s->outer, &a, "response", &response_shape, response);
    arena_release(&a);
}

/* {"tool": name, "tool_call": {...}}, merged into the common metadata. */
static const allm_json *make_tool_metadata(struct tool_spans *t,
                                           const allm_tool_call *call)
{
    struct build b = build_object_in(t->arena);
    build_text_at(&b, "tool", slice_of(call->name));
    build_value_at(&b, "tool_call",
                   encode_to_json(t->arena, &tool_call_shape, call,
                                  ALLM_FORM_PLAIN, NULL));
    const allm_json *mine = build_finish(&b);
    return mine ? json_merge(t->arena, t->metadata, mine) : NULL;
}

static void begin_tool_span(void *ud, size_t index, const allm_tool_call *call,
                            const allm_tool *tool)
{
    struct tool_spans *t = ud;
    (void)tool;
    if (!t->spans)
        t->spans = arena_zero(t->arena, (t->count + 1) * sizeof *t->spans);
    if (t->spans && index < t->count)
        trace_begin(&t->spans[index], t->trace, "tool", t->request_id, t->model,
                    make_tool_metadata(t, call));
}

static void end_tool_span(void *ud, size_t index, const struct outcome *outcome,
                          const allm_error *error)
{
    struct tool_spans *t = ud;
    if (!t->spans || index >= t->count)
        return;
    if (error && !strcmp(error->reason, FAILURE_TIMEOUT)) {
        trace_fail(&t->spans[index], error);
        return;
    }
    trace_end(&t->spans[index],
              build_one(t->arena, "result",
                        outcome_json(t->arena, outcome, error)));
}

struct batch_trace spans_of_tools(struct tool_spans *t)
{
    return (struct batch_trace){ .ud = t, .start = begin_tool_span,
                                 .stop = end_tool_span };
}
