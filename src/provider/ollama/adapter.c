/*
 * adapter.c - the adapter for /api/chat: decodes its lines
 *
 *      {"message": {"content", "thinking", "tool_calls"}, "done": false}
 *      ...
 *      {"message": {...}, "done": true, "done_reason", "eval_count", ...}
 *
 *   (1) The line with "done": true is the end; a body without it was truncated.
 *   (2) An error ends the response wherever it occurs, with any HTTP status.
 *   (3) A call is complete in one line, which may be the last one.
 *   (4) A line without content shows that the server is alive: it holds back
 *       the text of a call until that is complete.
 */
#include "provider/dialects.h"

#include "provider/answer.h"
#include "provider/counts.h"
#include "provider/error_body.h"
#include "provider/explain.h"
#include "provider/finish.h"
#include "provider/ollama/encode.h"
#include "provider/quirks.h"
#include "json/build.h"
#include "json/json.h"

/* The state of one response; initially zero. */
struct ollama {
    struct answer answer;
    struct think think;
    uint64_t quirks;
    bool initialized;           /* the quirks are known */
    bool thought;               /* a line had "thinking" */
};

static const struct finish_word finish_reasons[] = {
    { "stop", ALLM_FINISH_STOP },
    { "length", ALLM_FINISH_LENGTH },
    { "tool_calls", ALLM_FINISH_TOOL_CALLS },   /* from compatible servers */
    { "error", ALLM_FINISH_ERROR },
    { NULL, ALLM_FINISH_OTHER },                /* load, unload, ... */
};

/* --------------------------------------------------------------- text --- */

/* Emit text that may contain reasoning between tags. */
static void text_emit(struct ollama *o, struct slice text)
{
    if (o->quirks & OLLAMA_THINK_TAGS)
        answer_tagged(&o->answer, &o->think, text);
    else
        answer_text(&o->answer, text);
}

/* -------------------------------------------------------------- calls --- */

/* The arguments as JSON text; empty if there are none. */
static struct slice arguments_of(struct ollama *o, const allm_json *v)
{
    if (!json_is_type(v, ALLM_JSON_OBJECT) && !json_is_type(v, ALLM_JSON_ARRAY))
        return json_slice(v);   /* compatible servers send text */
    return sink_json(o->answer.sink, v);
}

/* Was this call received before?  Only the id can tell, because a model may
 * make the same call twice. */
static bool is_repeated(const struct calls *c, struct slice id,
                        struct slice name, struct slice arguments)
{
    for (const struct calls_slot *s = c->first; id.len && s; s = s->next)
        if (s->wire_id.ptr && slice_eq(s->wire_id, id) && s->name &&
            slice_is(name, s->name) && slice_eq(arguments, buf_slice(&s->raw)))
            return true;
    return false;
}

static void read_call(struct ollama *o, const allm_json *element)
{
    struct answer *a = &o->answer;
    const allm_json *function = json_at(element, "function");
    if (!json_is_type(function, ALLM_JSON_OBJECT))
        function = element;     /* without the nesting */
    struct slice id = json_text_at(element, "id");
    struct slice name = json_text_at(function, "name");
    struct slice arguments = arguments_of(o, json_at(function, "arguments"));
    if ((!name.len && !arguments.len) ||
        is_repeated(&a->calls, id, name, arguments))
        return;
    struct calls_slot *slot = calls_open(&a->calls, id, name, a->sink);
    if (!slot)
        return;
    calls_replace(&a->calls, slot, arguments.len ? arguments : SLICE("{}"),
                  a->sink);     /* complete: emit no delta */
    calls_close(&a->calls, slot, a->sink);
}

static void read_members(struct ollama *o, const allm_json *message)
{
    struct slice thought = json_text_at(message, "thinking");
    const allm_json *calls = json_at(message, "tool_calls");
    answer_thought(&o->answer, thought);
    o->thought = o->thought || thought.len;
    text_emit(o, json_text_at(message, "content"));
    if (!json_is_type(calls, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *e = NULL; (e = allm_json_next(calls, e));)
        if (json_is_type(e, ALLM_JSON_OBJECT))
            read_call(o, e);
}

/* Most messages have only a role and content. */
static void read_message(struct ollama *o, const allm_json *message)
{
    const allm_json *content = json_at(message, "content");
    size_t usual_count = json_at(message, "role") ? 2 : 1;
    answer_start(&o->answer);
    if (content && allm_json_count(message) == usual_count)
        text_emit(o, json_slice(content));
    else
        read_members(o, message);
}

/* A line of /api/generate has its text next to "done".  False: it is not
 * one. */
static bool read_generated(struct ollama *o, const struct json_view *frame)
{
    const allm_json *text = json_in(frame, SLICE("response"));
    struct slice thought = json_slice(json_in(frame, SLICE("thinking")));
    if (!json_is_type(text, ALLM_JSON_TEXT) && !thought.len)
        return false;
    answer_start(&o->answer);
    answer_thought(&o->answer, thought);
    o->thought = o->thought || thought.len;
    text_emit(o, json_slice(text));
    return true;
}

/* -------------------------------------------- usage and finish reason --- */

/* The durations of the call, in nanoseconds. */
static const allm_json *build_durations(struct arena *a, const allm_json *frame)
{
    static const char *const names[] = { "total_duration", "load_duration",
                                         "prompt_eval_duration",
                                         "eval_duration" };
    struct build b = build_object_in(a);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        allm_int n = counts_at(frame, names[i]);
        if (n.set)
            build_int_at(&b, names[i], n.value);
    }
    const allm_json *all = build_finish(&b);
    return allm_json_count(all) ? all : NULL;
}

/* A missing count is unknown: the server omits zeros, and older ones omit what
 * was cached. */
static void read_usage(struct ollama *o, const allm_json *frame)
{
    struct answer *a = &o->answer;
    allm_usage u = { .size = sizeof u };
    u.input_tokens = counts_at(frame, "prompt_eval_count");
    u.output_tokens = counts_at(frame, "eval_count");
    u.cached_input_tokens = counts_at(frame, "prompt_eval_cached_count");
    if (!u.input_tokens.set && !u.output_tokens.set)
        return;
    if (u.input_tokens.set && u.output_tokens.set &&
        u.input_tokens.value <= INT64_MAX - u.output_tokens.value)
        u.total_tokens =
            (allm_int){ u.input_tokens.value +
                                         u.output_tokens.value,
                                     true };
    u.extra = build_durations(a->sink->arena, frame);
    answer_usage(a, &u);
}

/* Old servers send no done_reason. */
static void read_reason(struct ollama *o, const allm_json *frame)
{
    struct slice reason = json_text_at(frame, "done_reason");
    if (reason.len) {
        answer_finish(&o->answer, finish_of(finish_reasons, reason), reason);
        return;
    }
    answer_finish(&o->answer, ALLM_FINISH_STOP, SLICE(""));
    answer_warn(&o->answer, "finish_reason_missing");
}

/* ------------------------------------------------------------ the end --- */

/* Prompt templates show a model what it thought before it called a tool. */
static void keep_state(struct ollama *o)
{
    struct answer *a = &o->answer;
    if (!o->thought)
        return;
    struct build b = build_object_in(a->sink->arena);
    build_text_at(&b, "thinking", buf_slice(&a->thought));
    build_end(&b);
    answer_state(a, answer_build(a, &b));
}

static allm_status response_complete(struct ollama *o, const allm_json *frame)
{
    answer_tagged_end(&o->answer, &o->think);
    read_usage(o, frame);
    read_reason(o, frame);
    keep_state(o);
    return answer_close(&o->answer);
}

static allm_status response_fail(struct ollama *o, const allm_json *document)
{
    return answer_fail_as(&o->answer, document, error_body_read);
}

/* -------------------------------------------------------------- lines --- */

static allm_status read_frame(struct ollama *o, const allm_json *v)
{
    struct json_view frame;
    sink_view(o->answer.sink, v, &frame);
    const allm_json *message = json_in(&frame, SLICE("message"));
    const allm_json *logprobs = json_in(&frame, SLICE("logprobs"));
    bool has_message = json_is_type(message, ALLM_JSON_OBJECT);
    bool done = allm_json_true(json_in(&frame, SLICE("done")));
    if (error_body_in(&frame) || (!has_message && !done && explain_message(v)))
        return response_fail(o, v);
    answer_model(&o->answer, json_slice(json_in(&frame, SLICE("model"))));
    if (has_message)
        read_message(o, message);
    else if (!read_generated(o, &frame) && !done)
        answer_raw(&o->answer, v);
    if (json_is_type(logprobs, ALLM_JSON_ARRAY))
        answer_gather(&o->answer, "logprobs", logprobs);
    return done ? response_complete(o, v) : ALLM_OK;
}

static allm_status line_parse(struct ollama *o, const allm_frame *frame)
{
    struct answer *a = &o->answer;
    struct slice data = { frame->data, frame->data_len };
    const allm_json *v = sink_parse_frame(a->sink, data);
    if (!v && frame->cut && answer_part(a, data))
        return ALLM_OK;         /* ollama_finish() reports it */
    if (a->sink->status < 0)
        return a->sink->status;
    if (!json_is_type(v, ALLM_JSON_OBJECT))
        return answer_malformed(a, v ? "a line of the response is not a JSON "
                                       "object"
                                     : "a line of the response is not JSON");
    return read_frame(o, v);
}

/* Both public functions begin with this. */
static bool decode_begin(struct ollama *o, const allm_call *call,
                         allm_sink *sink)
{
    if (!answer_open(&o->answer, call, sink))
        return false;
    if (!o->initialized) {
        o->quirks = quirks_read(quirks_ollama, call);
        o->think.inside = (o->quirks & OLLAMA_THINK_INSIDE) != 0;
    }
    o->initialized = true;
    return true;
}

static allm_status ollama_decode(void *state, const allm_call *call,
                                 const allm_frame *frame, allm_sink *sink)
{
    struct ollama *o = state;
    return decode_begin(o, call, sink) ? line_parse(o, frame) : ALLM_OK;
}

static allm_status ollama_finish(void *state, const allm_call *call,
                                 allm_sink *sink)
{
    struct ollama *o = state;
    if (!decode_begin(o, call, sink))
        return ALLM_OK;
    return answer_ended_early(&o->answer,
                              "the response is incomplete: it has no line "
                              "with \"done\": true");
}

/* A response that must match a schema cannot contain a call. */
static bool needs_finalize(const allm_request *r)
{
    return r->tool_count &&
           json_is(allm_json_get(r->response_format, "type"), "json_schema");
}

const allm_adapter ollama_adapter = {
    .size = sizeof(allm_adapter),
    .name = "ollama",
    .state_size = sizeof(struct ollama),
    .framing = ALLM_FRAMING_NDJSON,
    .encode = ollama_encode,
    .decode = ollama_decode,
    .finish = ollama_finish,
    .explain = error_body_explain,
    .needs_finalize = needs_finalize,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
