/*
 * trace.c - report what happens: spans, retries, warnings
 *
 *      chat > step > generate > stream         tool inside step
 *
 *      start                   stop (or exception)
 *      metadata                metadata, merged with extras; duration
 *
 * Events are emitted while the call runs, in the thread that pulls it.  If out
 * of memory, an event is emitted with less metadata.
 *
 * The JSON form uses our names, or those of OpenTelemetry's conventions for
 * generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/, as of
 * 1.37): a span's name and kind, its times, and attributes.  These never
 * include the text of prompts or responses.
 */
#include "engine/trace.h"

#include "base/caller_struct.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "data/encode.h"
#include "data/error.h"
#include "json/build.h"
#include "json/json.h"
#include "json/write.h"

#include <stdint.h>

/* ------------------------------------------------------------- events --- */

/* All spans, and their OpenTelemetry names. */
static const struct span {
    const char *name;
    const char *operation;      /* gen_ai.operation.name */
    const char *kind;
} spans[] = {
    { "generate", "chat", "CLIENT" },
    { "stream", "stream", "INTERNAL" }, /* inside generate: one request */
    { "step", "step", "INTERNAL" },     /* our name: no convention */
    { "chat", "invoke_agent", "INTERNAL" },
    { "tool", "execute_tool", "INTERNAL" },
    { "image", "generate_content", "CLIENT" },
    { "embed", "embeddings", "CLIENT" },
    { "moderate", "moderate", "CLIENT" },       /* ours, too */
    { "models", "models", "CLIENT" },
    { "fetch", "fetch", "CLIENT" },
};

static const struct span *find_span(const char *name)
{
    for (size_t i = 0; name && i < sizeof spans / sizeof *spans; i++)
        if (!strcmp(spans[i].name, name))
            return &spans[i];
    return NULL;
}

void trace_emit(const struct trace *t, allm_trace_event event)
{
    if (!trace_on(t))
        return;
    event.size = sizeof event;
    if (!event.time_ns)
        event.time_ns = clock_now_ns(t->clock);
    event.unix_ms = clock_unix_ms(t->clock);
    if (!event.metadata)
        event.metadata = json_empty_object();
    t->fn(&event, t->ud);
}

bool trace_begin(struct trace_span *s, const struct trace *t, const char *name,
                 const char *request_id, const char *model,
                 const allm_json *metadata)
{
    *s = (struct trace_span){ .trace = NULL };
    if (!trace_on(t))
        return true;
    if (!find_span(name))
        return false;
    *s = (struct trace_span){ t,        name,
                              request_id, model,
                              metadata, clock_now_ns(t->clock) };
    trace_emit(t, (allm_trace_event){ .span = name,
                                      .what = "start",
                                      .time_ns = s->began_ns,
                                      .request_id = request_id,
                                      .model = model,
                                      .metadata = metadata });
    return true;
}

/* End a span; `extras` are merged into its metadata, in the arena. */
static void trace_finish(struct trace_span *s, const char *what,
                         struct arena *a, const allm_json *extras)
{
    const struct trace *t = s->trace;
    int64_t now = clock_now_ns(t->clock);
    const allm_json *all = s->metadata;
    if (extras) {
        all = s->metadata ? json_merge(a, s->metadata, extras) : extras;
        all = all ? all : extras;       /* out of memory */
    }
    s->trace = NULL;
    trace_emit(t, (allm_trace_event){
                      .span = s->name,
                      .what = what,
                      .time_ns = now,
                      .duration_ns = clock_between(s->began_ns, now),
                      .request_id = s->request_id,
                      .model = s->model,
                      .metadata = all });
}

void trace_end(struct trace_span *s, const allm_json *extras)
{
    if (!s->trace)
        return;
    struct arena a = arena_in(mem_default());
    trace_finish(s, "stop", &a, extras);
    arena_release(&a);
}

static void add_value(struct build *b, const char *name, const allm_json *v)
{
    if (!v || allm_json_type_of(v) == ALLM_JSON_NULL)
        return;
    build_value_at(b, name, v);
}

/* Add an error's kind, reason and JSON form to an object that is open. */
static void add_error(struct build *b, struct arena *a, const allm_error *error)
{
    build_text_if(b, "kind", allm_status_name(error->kind));
    build_text_if(b, "reason", error->reason);
    add_value(b, "error",
              encode_to_json(a, &error_shape, error, ALLM_FORM_PLAIN, NULL));
}

static void finish_with_error(struct trace_span *s, const char *what,
                              bool has_response, const allm_error *error)
{
    if (!s->trace)
        return;
    struct arena a = arena_in(mem_default());
    struct build b = build_object_in(&a);
    if (has_response) {
        build_key(&b, SLICE("response"));
        build_null(&b);
    }
    add_error(&b, &a, error ? error : status_nomem());
    trace_finish(s, what, &a, build_finish(&b));
    arena_release(&a);
}

void trace_fail(struct trace_span *s, const allm_error *error)
{
    finish_with_error(s, "exception", false, error);
}

void trace_refuse(struct trace_span *s, const allm_error *error)
{
    finish_with_error(s, "stop", true, error);
}

void trace_retry(const struct trace *t, const char *request_id,
                 const char *provider, int64_t attempt, int64_t delay_ms,
                 const char *reason)
{
    if (!trace_on(t))
        return;
    struct arena a = arena_in(mem_default());
    struct build b = build_object_in(&a);
    build_text_if(&b, "provider", provider);
    build_int_at(&b, "attempt", attempt);
    build_int_at(&b, "delay_ms", delay_ms);
    build_text_if(&b, "reason", reason);
    trace_emit(t, (allm_trace_event){ .span = "adapter",
                                      .what = "retry",
                                      .request_id = request_id,
                                      .metadata = build_finish(&b) });
    arena_release(&a);
}

void trace_agent(const struct trace *t, const char *request_id,
                 const char *what, uint64_t iterations, uint64_t tool_calls)
{
    if (!trace_on(t))
        return;
    bool ends = !strcmp(what, "complete");
    struct arena a = arena_in(mem_default());
    struct build b = build_object_in(&a);
    build_int_at(&b, ends ? "total_iterations" : "iteration",
                 (int64_t)iterations);
    build_int_at(&b, "tool_calls_count", (int64_t)tool_calls);
    trace_emit(t, (allm_trace_event){ .span = "agent",
                                      .what = what,
                                      .request_id = request_id,
                                      .metadata = build_finish(&b) });
    arena_release(&a);
}

void trace_warn(const struct trace *t, const char *request_id,
                const char *model, const char *reason)
{
    if (!trace_on(t))
        return;
    struct arena a = arena_in(mem_default());
    struct build b = build_object_in(&a);
    build_text_if(&b, "reason", reason);
    trace_emit(t, (allm_trace_event){ .span = "engine",
                                      .what = "warning",
                                      .request_id = request_id,
                                      .model = model,
                                      .metadata = build_finish(&b) });
    arena_release(&a);
}

const char *trace_id(struct random r, struct arena *a)
{
    struct buf id = buf_in(a, 64);
    return random_id(r, &id) ? id.ptr : NULL;
}

/* --------------------------------------------------------- plain form --- */

static bool has_duration(const allm_trace_event *e)
{
    return e->what &&
           (!strcmp(e->what, "stop") || !strcmp(e->what, "exception"));
}

static void write_plain(struct build *b, const allm_trace_event *e)
{
    build_text_if(b, "span", e->span);
    build_text_if(b, "what", e->what);
    build_int_at(b, "time_ns", e->time_ns);
    build_int_at(b, "unix_ms", e->unix_ms);
    if (has_duration(e))
        build_int_at(b, "duration_ns", e->duration_ns);
    build_text_if(b, "request_id", e->request_id);
    build_text_if(b, "model", e->model);
    add_value(b, "metadata", e->metadata ? e->metadata : json_empty_object());
}

/* ------------------------------------------------------ OpenTelemetry --- */

/* Providers whose name differs from that in the registry. gen_ai.system is the
 * name of gen_ai.provider.name up to 1.36. */
static const struct {
    const char *ours, *provider, *system;
} providers[] = {
    { "gemini", "gcp.gemini", "gemini" },
    { "google", "gcp.gemini", "gemini" },
    { "mistral", "mistral_ai", "mistral_ai" },
    { "xai", "x_ai", "xai" },
};

static void write_provider(struct build *b, const char *name)
{
    const char *provider = name, *system = name;
    for (size_t i = 0; name && i < sizeof providers / sizeof *providers; i++)
        if (!strcmp(providers[i].ours, name)) {
            provider = providers[i].provider;
            system = providers[i].system;
        }
    build_text_if(b, "gen_ai.provider.name", provider);
    build_text_if(b, "gen_ai.system", system);
}

/* The model's name without our "provider:" prefix. */
static const char *bare_model(const char *model, const char *provider)
{
    size_t n = provider ? strlen(provider) : 0;
    if (n && model && !strncmp(model, provider, n) && model[n] == ':' &&
        model[n + 1])
        return model + n + 1;
    return model;
}

/* The response that belongs to an event, in any of the possible results. */
static const allm_json *response_of(const allm_json *metadata)
{
    static const char *const paths[] = { "/response", "/step_result/response",
                                          "/chat_result/final_response" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const allm_json *r = allm_json_pointer(metadata, paths[i]);
        if (allm_json_type_of(r) == ALLM_JSON_OBJECT)
            return r;
    }
    return NULL;
}

static void write_response(struct build *b, const allm_json *r)
{
    const allm_json *finish_reason = allm_json_get(r, "finish_reason");
    const allm_json *usage = allm_json_get(r, "usage");
    add_value(b, "gen_ai.response.id", allm_json_get(r, "id"));
    add_value(b, "gen_ai.response.model", allm_json_get(r, "model"));
    if (allm_json_type_of(finish_reason) == ALLM_JSON_TEXT) {
        build_array_at(b, "gen_ai.response.finish_reasons");
        build_value(b, finish_reason);
        build_end(b);
    }
    add_value(b, "gen_ai.usage.input_tokens",
              allm_json_get(usage, "input_tokens"));
    add_value(b, "gen_ai.usage.output_tokens",
              allm_json_get(usage, "output_tokens"));
}

/* Write the reason of the error: of an exception, or of a response that was
 * interrupted. */
static void write_error(struct build *b, const allm_trace_event *e,
                        const allm_json *response)
{
    const allm_json *error = allm_json_get(e->metadata, "error");
    if (!error)
        error = allm_json_pointer(response, "/metadata/error");
    const allm_json *reason = allm_json_get(error, "reason");
    if (e->what && !strcmp(e->what, "exception") && !reason)
        reason = allm_json_get(e->metadata, "reason");
    if (reason || !e->what || strcmp(e->what, "exception") != 0)
        add_value(b, "error.type", reason);
    else
        build_text_if(b, "error.type", "_OTHER");
}

static void write_retry(struct build *b, const allm_trace_event *e)
{
    if (!e->what || strcmp(e->what, "retry") != 0)
        return;
    add_value(b, "allm.retry.attempt", allm_json_get(e->metadata, "attempt"));
    add_value(b, "allm.retry.delay_ms", allm_json_get(e->metadata, "delay_ms"));
    add_value(b, "allm.retry.reason", allm_json_get(e->metadata, "reason"));
}

static void write_warning(struct build *b, const allm_trace_event *e)
{
    if (e->what && !strcmp(e->what, "warning"))
        add_value(b, "allm.warning", allm_json_get(e->metadata, "reason"));
}

static void write_attributes(struct build *b, const allm_trace_event *e,
                             const struct span *span, const char *provider)
{
    const allm_json *m = e->metadata;
    const allm_json *response = response_of(m);
    const allm_json *tool = allm_json_get(m, "tool_name");
    build_text_if(b, "gen_ai.operation.name", span->operation);
    write_provider(b, provider);
    build_text_if(b, "gen_ai.request.model", bare_model(e->model, provider));
    add_value(b, "gen_ai.request.temperature", allm_json_get(m, "temperature"));
    add_value(b, "gen_ai.request.max_tokens", allm_json_get(m, "max_tokens"));
    add_value(b, "gen_ai.conversation.id", allm_json_get(m, "session_id"));
    if (!strcmp(span->name, "image"))
        build_text_if(b, "gen_ai.output.type", "image");
    add_value(b, "gen_ai.tool.name", tool);
    add_value(b, "gen_ai.tool.call.id", allm_json_get(m, "tool_call_id"));
    if (tool)
        build_text_if(b, "gen_ai.tool.type", "function");
    write_response(b, response);
    write_error(b, e, response);
    write_retry(b, e);
    write_warning(b, e);
    build_text_if(b, "allm.request_id", e->request_id);
}

/* "chat gpt-4o", "execute_tool get_weather". */
static void write_name(struct build *b, const allm_trace_event *e,
                       const struct span *span, const char *provider)
{
    const char *tool = allm_json_text(allm_json_get(e->metadata, "tool_name"),
                                      NULL);
    const char *subject = tool ? tool : bare_model(e->model, provider);
    struct buf name = buf_in(b->arena, 64 * 1024);
    buf_text(&name, span->operation);
    if (subject) {
        buf_byte(&name, ' ');
        buf_text(&name, subject);
    }
    build_text_if(b, "name", name.broken ? span->operation : name.ptr);
}

static int64_t ms_to_ns(int64_t ms)
{
    int64_t max = INT64_MAX / 1000000;
    return (ms > max ? max : ms < -max ? -max : ms) * 1000000;
}

/* The start time; the duration may be invalid, as anyone can fill in an
 * event. */
static int64_t start_time(int64_t end_ns, int64_t duration_ns)
{
    return duration_ns > 0 ? clock_add(end_ns, -duration_ns) : end_ns;
}

static void write_otel(struct build *b, const allm_trace_event *e)
{
    const struct span *span = find_span(e->span);
    const char *provider =
        allm_json_text(allm_json_get(e->metadata, "provider"), NULL);
    span = span ? span : &spans[0];     /* retries, warnings: of the call */
    write_name(b, e, span, provider);
    build_text_if(b, "kind", span->kind);
    build_text_if(b, "what", e->what);
    if (has_duration(e)) {
        int64_t end = ms_to_ns(e->unix_ms);
        build_int_at(b, "startTimeUnixNano", start_time(end, e->duration_ns));
        build_int_at(b, "endTimeUnixNano", end);
    } else {
        build_int_at(b, "timeUnixNano", ms_to_ns(e->unix_ms));
    }
    build_object_at(b, "attributes");
    write_attributes(b, e, span, provider);
    build_end(b);
}

/* --------------------------------------------------- public functions --- */

static const allm_error *misuse_error(struct arena *a, bool readable)
{
    return status_error(a, ALLM_ERR_MISUSE, "misuse",
                        readable ? "allm_trace_json: the form must be "
                                   "ALLM_TRACE_PLAIN or ALLM_TRACE_OTEL"
                                 : "allm_trace_json: fill the event with "
                                   "ALLM(trace_event, ...)");
}

allm_text *allm_trace_json(const allm_trace_event *event, allm_trace_form form)
{
    allm_trace_event e;
    allm_text *t = event ? text_begin(mem_default(), 1024) : NULL;
    if (!t)
        return NULL;
    bool readable = caller_struct_take(&e, sizeof e, event);
    if (!readable || form > ALLM_TRACE_OTEL)
        return text_fail(t, misuse_error(text_arena(t), readable));
    struct build b = build_object_in(text_arena(t));
    if (form == ALLM_TRACE_PLAIN)
        write_plain(&b, &e);
    else
        write_otel(&b, &e);
    const allm_json *v = build_finish(&b);
    struct buf out = buf_in(text_arena(t), SIZE_MAX / 2);
    if (!v || !json_write(&out, v, 0))
        return text_fail(t, status_nomem());
    return text_finish(t, buf_slice(&out));
}

void allm_trace_write(const allm_trace_event *event, void *descriptor)
{
    size_t len = 0;
    const int *fd = descriptor;
    allm_text *text = allm_trace_json(event, ALLM_TRACE_PLAIN);
    const char *json = text && !allm_text_error(text)
                           ? allm_text_bytes(text, &len)
                           : NULL;
    if (fd && json)
        file_write_line(*fd, (struct slice){ json, len });
    allm_text_free(text);
}
