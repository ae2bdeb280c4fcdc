/*
 * responses.c - the dialect of /responses: decodes its events
 *
 *      response.created
 *        response.output_item.added
 *          response.output_text.delta ...      and similar events
 *        response.output_item.done
 *        ...
 *      response.completed, .incomplete or .failed; or error
 *
 *   (1) The type in the data decides; the event's name counts only if the type
 *       is missing.
 *   (2) Only the last event is the end.  If the body ends before it, or with
 *       [DONE], the response is truncated.
 *   (3) An error in any position ends the response.
 *   (4) Unknown events are emitted as raw chunks and otherwise ignored.
 *   (5) Sequence numbers are ignored: proxies leave gaps and restart them.
 */
#include "provider/dialects.h"

#include "base/status.h"
#include "provider/error_body.h"
#include "provider/explain.h"
#include "provider/finish.h"
#include "provider/openai/responses_encode.h"
#include "provider/openai/responses_item.h"
#include "provider/openai/responses_item_state.h"
#include "provider/openai/usage.h"
#include "json/build.h"
#include "json/json.h"

/* The state of a response; it begins zeroed. */
struct openai_responses {
    struct answer answer;
    struct responses_items items;
};

static const struct finish_word incomplete_words[] = {
    { "max_output_tokens", ALLM_FINISH_LENGTH },
    { "max_tokens", ALLM_FINISH_LENGTH },   /* this and "length": not OpenAI */
    { "length", ALLM_FINISH_LENGTH },
    { "content_filter", ALLM_FINISH_CONTENT_FILTER },
    { NULL, ALLM_FINISH_OTHER },
};

static bool is_object(const allm_json *v)
{
    return json_is_type(v, ALLM_JSON_OBJECT);
}

/* ------------------------------------- metadata, usage, finish reason --- */

static void read_notes(struct openai_responses *c, const allm_json *response)
{
    static const char *const names[] = { "incomplete_details", "service_tier",
                                         "conversation", "citations" };
    answer_id(&c->answer, json_text_at(response, "id"));
    answer_model(&c->answer, json_text_at(response, "model"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *v = json_at(response, names[i]);
        if (v && !json_is_type(v, ALLM_JSON_NULL))
            answer_note(&c->answer, names[i], v);
    }
}

static void read_usage(struct openai_responses *c, const allm_json *from)
{
    const allm_json *tools = json_at(from, "tool_usage");
    if (openai_usage_take(&c->answer, json_at(from, "usage")) &&
        is_object(tools))
        answer_usage(&c->answer, &(allm_usage){ .size = sizeof(allm_usage),
                                                .tool_usage = tools });
}

/* Some servers report "completed" when the request's token limit truncated the
 * text. */
static bool is_cut(const struct answer *a)
{
    allm_int limit = openai_responses_limit(a->call, a->sink->arena);
    allm_int spent = a->usage.output_tokens;
    bool whole = a->calls.first && !calls_cut(&a->calls);
    return limit.set && spent.set && spent.value == limit.value && !whole;
}

static void read_completed(struct answer *a, struct slice status)
{
    if (a->refusal.len && !a->text.len && !a->calls.first)
        answer_finish(a, ALLM_FINISH_CONTENT_FILTER, SLICE("refusal"));
    else
        answer_finish(a, is_cut(a) ? ALLM_FINISH_LENGTH : ALLM_FINISH_STOP,
                      status);
}

/* Without a reason it is the token limit: nothing else truncates silently. */
static void read_incomplete(struct answer *a, const allm_json *response)
{
    struct slice why = json_text_at(json_at(response, "incomplete_details"),
                                    "reason");
    a->incomplete = true;
    if (why.len)
        answer_finish(a, finish_of(incomplete_words, why), why);
    else
        answer_finish(a, ALLM_FINISH_LENGTH, SLICE("incomplete"));
}

static void read_finish(struct answer *a, const allm_json *response,
                        struct slice status)
{
    if (slice_is(status, "completed") || slice_is(status, "complete"))
        read_completed(a, status);
    else if (slice_is(status, "incomplete"))
        read_incomplete(a, response);
    else if (slice_is(status, "queued") || slice_is(status, "in_progress"))
        answer_finish(a, ALLM_FINISH_NONE, status);     /* not done yet */
    else
        answer_finish(a, ALLM_FINISH_OTHER, status);
}

/* ------------------------------------------------ end of the response --- */

static allm_status fail_with_error(struct openai_responses *c,
                                   const allm_json *document)
{
    return answer_fail_as(&c->answer, document, error_body_read);
}

/* Fail with the error in the response, or else with the error in its event. */
static allm_status fail_response(struct openai_responses *c,
                                 const allm_json *response,
                                 const allm_json *event)
{
    if (error_body_is(response))
        return fail_with_error(c, response);
    return fail_with_error(c,
                           error_body_is(event) ? event : json_empty_object());
}

static allm_status fail_cancelled(struct openai_responses *c)
{
    allm_error e = STATUS_ERROR(ALLM_ERR_ADAPTER, "unknown",
                                "the provider cancelled the response");
    return answer_fail(&c->answer, &e);
}

/* End with the complete response, which is in the last event or is the body. */
static allm_status response_complete(struct openai_responses *c,
                                     const allm_json *response,
                                     struct slice status)
{
    struct answer *a = &c->answer;
    answer_start(a);
    read_notes(c, response);
    read_usage(c, response);
    if (slice_is(status, "failed"))
        return fail_response(c, response, NULL);
    if (slice_is(status, "cancelled") || slice_is(status, "canceled"))
        return fail_cancelled(c);
    openai_responses_item_output(&c->items, json_at(response, "output"));
    openai_responses_item_end_all(&c->items);
    if (answer_is_empty(a))
        answer_text(a, json_text_at(response, "output_text"));
    read_finish(a, response, status);
    answer_state(a, openai_responses_item_state(&c->items));
    return answer_close(a);
}

static allm_status response_truncate(struct openai_responses *c)
{
    return answer_ended_early(&c->answer,
                              "the response is incomplete: it has neither "
                              "response.completed nor "
                              "response.incomplete");
}

/* ------------------------------------------------------------- events --- */

struct event {
    const allm_json *json;
    struct json_view view;      /* of `json` */
    struct responses_place place;
    struct slice type;
};

static void event_read(const struct openai_responses *c, struct event *e,
                       const allm_json *json, struct slice name)
{
    struct responses_place *place = &e->place;
    *place = (struct responses_place){ .index = 0 };
    e->json = json;
    sink_view(c->answer.sink, json, &e->view);
    e->type = json_slice(json_in(&e->view, SLICE("type")));
    if (!e->type.len)
        e->type = error_body_in(&e->view) ? SLICE("error") : name;
    place->has_index = json_int64(json_in(&e->view, SLICE("output_index")),
                                  &place->index);
    place->id = json_slice(json_in(&e->view, SLICE("item_id")));
    if (!json_int64(json_in(&e->view, SLICE("content_index")), &place->part))
        json_int64(json_in(&e->view, SLICE("summary_index")), &place->part);
}

static allm_status on_idle(struct openai_responses *c, const struct event *e)
{
    (void)e;
    allm_sink_idle(c->answer.sink);
    return ALLM_OK;
}

static allm_status on_nothing(struct openai_responses *c, const struct event *e)
{
    (void)c;
    (void)e;
    return ALLM_OK;
}

static allm_status on_created(struct openai_responses *c, const struct event *e)
{
    answer_start(&c->answer);
    read_notes(c, json_at(e->json, "response"));
    return ALLM_OK;
}

static allm_status on_item(struct openai_responses *c, const struct event *e)
{
    struct responses_place place = e->place;
    const allm_json *item = json_at(e->json, "item");
    if (!is_object(item)) {
        answer_raw(&c->answer, e->json);
        return ALLM_OK;
    }
    if (json_text_at(item, "id").len)
        place.id = json_text_at(item, "id");
    if (slice_is(e->type, "response.output_item.done"))
        openai_responses_item_end(&c->items, &place, item, e->json);
    else
        openai_responses_item_begin(&c->items, &place, item, e->json);
    return ALLM_OK;
}

/* content_part.done and similar events: a complete text. */
static allm_status on_part(struct openai_responses *c, const struct event *e)
{
    const allm_json *part = json_at(e->json, "part");
    const allm_json *type = json_at(part, "type");
    struct slice text = json_text_at(part, "text");
    enum responses_piece what = RESPONSES_TEXT;
    if (slice_is(e->type, "response.reasoning_summary_part.done"))
        what = RESPONSES_SUMMARY;
    else if (slice_is(e->type, "response.reasoning_part.done") ||
             json_is(type, "reasoning_text"))
        what = RESPONSES_THOUGHT;
    else if (json_is(type, "refusal"))
        what = RESPONSES_REFUSAL;
    if (what == RESPONSES_REFUSAL)
        text = json_text_at(part, "refusal");
    openai_responses_item_add(&c->items, &e->place, what, text, true);
    return ALLM_OK;
}

static allm_status on_annotation(struct openai_responses *c,
                                 const struct event *e)
{
    openai_responses_item_cite(&c->items, &e->place,
                               json_at(e->json, "annotation"));
    return ALLM_OK;
}

static allm_status on_end(struct openai_responses *c, const struct event *e)
{
    const allm_json *response = json_at(e->json, "response");
    struct slice status = json_text_at(response, "status");
    if (!is_object(response))
        read_usage(c, e->json);
    if (slice_is(e->type, "response.incomplete"))
        status = SLICE("incomplete");
    else if (slice_is(e->type, "response.cancelled"))
        status = SLICE("cancelled");
    else if (!status.len || slice_is(status, "in_progress"))
        status = SLICE("completed");
    return response_complete(c, response, status);
}

static allm_status on_failed(struct openai_responses *c, const struct event *e)
{
    const allm_json *response = json_at(e->json, "response");
    read_notes(c, response);
    read_usage(c, response);
    return fail_response(c, response, e->json);
}

/* The event has the members of the error itself, or in "error". */
static allm_status on_error(struct openai_responses *c, const struct event *e)
{
    static const char *const event_members[] = { "type", "sequence_number",
                                                 "error", NULL };
    const allm_json *inner = json_at(e->json, "error");
    if (inner && !json_is_type(inner, ALLM_JSON_NULL))
        return fail_with_error(c, e->json);
    struct build b = build_object_in(c->answer.sink->arena);
    build_object_at(&b, "error");
    build_entries(&b, e->json, event_members);
    build_end(&b);
    return fail_with_error(c, build_finish(&b));
}

#define NAMES(type, member) SLICE_INIT(type), SLICE_INIT(member)

/* Events with text: the member that has it, and what the text belongs to. */
static const struct {
    struct slice type, member;
    enum responses_piece what;
    bool whole;
} texts[] = {
    { NAMES("response.output_text.delta", "delta"), RESPONSES_TEXT, false },
    { NAMES("response.output_text.done", "text"), RESPONSES_TEXT, true },
    { NAMES("response.refusal.delta", "delta"), RESPONSES_REFUSAL, false },
    { NAMES("response.refusal.done", "refusal"), RESPONSES_REFUSAL, true },
    { NAMES("response.function_call_arguments.delta", "delta"),
      RESPONSES_ARGUMENTS, false },
    { NAMES("response.function_call_arguments.done", "arguments"),
      RESPONSES_ARGUMENTS, true },
    { NAMES("response.custom_tool_call_input.delta", "delta"),
      RESPONSES_INPUT, false },
    { NAMES("response.custom_tool_call_input.done", "input"),
      RESPONSES_INPUT, true },
    { NAMES("response.reasoning_summary_text.delta", "delta"),
      RESPONSES_SUMMARY, false },
    { NAMES("response.reasoning_summary_text.done", "text"),
      RESPONSES_SUMMARY, true },
    { NAMES("response.reasoning_summary.delta", "delta"),
      RESPONSES_SUMMARY, false },
    { NAMES("response.reasoning_summary.done", "text"),
      RESPONSES_SUMMARY, true },
    { NAMES("response.reasoning_text.delta", "delta"),
      RESPONSES_THOUGHT, false },
    { NAMES("response.reasoning_text.done", "text"),
      RESPONSES_THOUGHT, true },
    { NAMES("response.reasoning.delta", "delta"), RESPONSES_THOUGHT, false },
    { NAMES("response.reasoning.done", "text"), RESPONSES_THOUGHT, true },
};

static bool read_text(struct openai_responses *c, const struct event *e)
{
    const allm_json *logprobs = json_in(&e->view, SLICE("logprobs"));
    size_t i = 0, n = sizeof texts / sizeof *texts;
    while (i < n && !slice_eq(e->type, texts[i].type))
        i++;
    if (i == n)
        return false;
    openai_responses_item_add(&c->items, &e->place, texts[i].what,
                              json_slice(json_in(&e->view, texts[i].member)),
                              texts[i].whole);
    if (texts[i].what == RESPONSES_ARGUMENTS && texts[i].whole)
        openai_responses_item_name(&c->items, &e->place,
                                   json_text_at(e->json, "name"));
    if (!texts[i].whole && json_is_type(logprobs, ALLM_JSON_ARRAY))
        answer_gather(&c->answer, "logprobs", logprobs);
    return true;
}

static const struct {
    struct slice type;
    allm_status (*on)(struct openai_responses *c, const struct event *e);
} handlers[] = {
    { SLICE_INIT("response.output_item.added"), on_item },
    { SLICE_INIT("response.output_item.done"), on_item },
    { SLICE_INIT("response.content_part.added"), on_nothing },
    { SLICE_INIT("response.content_part.done"), on_part },
    { SLICE_INIT("response.reasoning_summary_part.added"), on_nothing },
    { SLICE_INIT("response.reasoning_summary_part.done"), on_part },
    { SLICE_INIT("response.reasoning_part.added"), on_nothing },
    { SLICE_INIT("response.reasoning_part.done"), on_part },
    { SLICE_INIT("response.output_text.annotation.added"), on_annotation },
    { SLICE_INIT("response.created"), on_created },
    { SLICE_INIT("response.in_progress"), on_created },
    { SLICE_INIT("response.queued"), on_created },
    { SLICE_INIT("response.completed"), on_end },
    { SLICE_INIT("response.incomplete"), on_end },
    { SLICE_INIT("response.cancelled"), on_end },
    { SLICE_INIT("response.failed"), on_failed },
    { SLICE_INIT("error"), on_error },
    { SLICE_INIT("response.error"), on_error },
    { SLICE_INIT("keepalive"), on_idle },
    { SLICE_INIT("ping"), on_idle },
};

static allm_status read_event(struct openai_responses *c, struct slice name,
                              const allm_json *json)
{
    struct event e;
    event_read(c, &e, json, name);
    if (read_text(c, &e))
        return ALLM_OK;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (slice_eq(e.type, handlers[i].type))
            return handlers[i].on(c, &e);
    answer_raw(&c->answer, e.json);
    return ALLM_OK;
}

/* ---------------------------------------------------------- documents --- */

static allm_status read_document(struct openai_responses *c,
                                 const allm_json *all)
{
    const allm_json *output = json_at(all, "output");
    struct slice status = json_text_at(all, "status");
    if (!json_is_type(output, ALLM_JSON_ARRAY) &&
        !json_text_at(all, "output_text").len && !slice_is(status, "failed"))
        return error_body_is(all) || explain_message(all)
                   ? fail_with_error(c, all)
                   : answer_malformed(&c->answer, "the response is a JSON "
                                                  "document without output");
    if (error_body_is(all))
        status = SLICE("failed");
    return response_complete(c, all, status.len ? status : SLICE("completed"));
}

/* ------------------------------------------------------------- frames --- */

static allm_status frame_parse(struct openai_responses *c,
                               const allm_frame *frame)
{
    struct answer *a = &c->answer;
    struct slice data =
        slice_trim((struct slice){ frame->data, frame->data_len });
    struct slice name = { frame->name, frame->name_len };
    if (slice_starts(data, SLICE("[DONE]")))
        return response_truncate(c);    /* keeps (2) */
    if (!data.len)
        return ALLM_OK;
    const allm_json *v = sink_parse_frame(a->sink, data);
    if (a->sink->status < 0)
        return a->sink->status;
    if (!v && frame->cut)
        return ALLM_OK;         /* finish() reports it */
    if (!v && frame->whole)
        return answer_not_json(a, data);
    if (frame->whole)
        return read_document(c, v);
    if (is_object(v))
        return read_event(c, name, v);
    if (slice_is(name, "error"))
        return fail_with_error(c, answer_error_text(a, data, v));
    return json_is_type(v, ALLM_JSON_NULL)
               ? ALLM_OK
               : answer_malformed(a, "an event of the response is not a JSON "
                                     "object");
}

/* Begin decode() and finish(); false: the response is over. */
static bool decode_begin(struct openai_responses *c, const allm_call *call,
                         allm_sink *sink)
{
    c->items.answer = &c->answer;
    return answer_open(&c->answer, call, sink);
}

static allm_status openai_responses_decode(void *state, const allm_call *call,
                                           const allm_frame *frame,
                                           allm_sink *sink)
{
    struct openai_responses *c = state;
    return decode_begin(c, call, sink) ? frame_parse(c, frame) : ALLM_OK;
}

static allm_status openai_responses_finish(void *state, const allm_call *call,
                                           allm_sink *sink)
{
    struct openai_responses *c = state;
    return decode_begin(c, call, sink) ? response_truncate(c) : ALLM_OK;
}

const allm_adapter openai_responses_adapter = {
    .size = sizeof(allm_adapter),
    .name = "openai_responses",
    .state_size = sizeof(struct openai_responses),
    .framing = ALLM_FRAMING_SSE,
    .encode = openai_responses_encode,
    .decode = openai_responses_decode,
    .finish = openai_responses_finish,
    .explain = error_body_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
