/*
 * chat.c - the dialect of /chat/completions: decodes its responses
 *
 *      data: {"choices": [{"delta": {...}, "finish_reason": null}]}
 *      ...
 *      data: {"choices": [], "usage": {...}}
 *      data: [DONE]
 *
 * Servers differ in nearly everything; these rules hold for all of them:
 *
 *   (1) A finish reason is not the end: text, calls and usage may follow it.
 *   (2) The end is [DONE], or the end of the body after a finish reason.
 *   (3) An error in any position ends the response.
 *   (4) Only the first choice is read: its `delta` in a stream, its `message`
 *       in a document.
 */
#include "provider/dialects.h"

#include "provider/answer.h"
#include "provider/error_body.h"
#include "provider/explain.h"
#include "provider/finish.h"
#include "provider/openai/chat_encode.h"
#include "provider/openai/chat_repeat.h"
#include "provider/openai/reasoning_details.h"
#include "provider/openai/usage.h"
#include "provider/quirks.h"
#include "json/build.h"
#include "json/json.h"

/* The state of a response; it begins zeroed. */
struct openai_chat {
    struct answer answer;
    struct think think;
    struct reasoning_details details;
    struct chat_repeat repeat;
    uint64_t quirks;
    const char *native;         /* the model's own finish reason; or NULL */
    bool began;                 /* the quirks are known */
    bool content_before;        /* a frame had content and no finish reason */
    bool reasoning_before;      /* a field other than the details had it */
    bool has_content;           /* "content" had text */
};

static const struct finish_word finish_words[] = {
    { "stop", ALLM_FINISH_STOP },
    { "eos", ALLM_FINISH_STOP },
    { "end_turn", ALLM_FINISH_STOP },
    { "stop_sequence", ALLM_FINISH_STOP },
    { "complete", ALLM_FINISH_STOP },
    { "length", ALLM_FINISH_LENGTH },
    { "max_tokens", ALLM_FINISH_LENGTH },
    { "model_length", ALLM_FINISH_LENGTH },
    { "max_output_tokens", ALLM_FINISH_LENGTH },
    { "tool_calls", ALLM_FINISH_TOOL_CALLS },
    { "function_call", ALLM_FINISH_TOOL_CALLS },
    { "tool_use", ALLM_FINISH_TOOL_CALLS },
    { "content_filter", ALLM_FINISH_CONTENT_FILTER },
    { "error", ALLM_FINISH_ERROR },
    { "insufficient_system_resource", ALLM_FINISH_ERROR },
    { NULL, ALLM_FINISH_OTHER },
};

/* A string in the view; fast if most names are missing. */
static struct slice text_in(const struct json_view *object, struct slice name)
{
    const allm_json *v = json_in(object, name);
    return v ? json_slice(v) : (struct slice){ NULL, 0 };
}

/* -------------------------------------------------------------- texts --- */

/* Emit text, and the reasoning in its <think> tags if the server has them. */
static void text_emit(struct openai_chat *c, struct slice text)
{
    if (c->quirks & CHAT_THINK_TAGS)
        answer_tagged(&c->answer, &c->think, text);
    else
        answer_text(&c->answer, text);
}

/* Emit reasoning that is a string, or a list of strings or {"text"}. */
static void thought_emit(struct openai_chat *c, const allm_json *v)
{
    if (json_is_type(v, ALLM_JSON_TEXT))
        answer_thought(&c->answer, json_slice(v));
    if (!json_is_type(v, ALLM_JSON_ARRAY))
        return;
    for (const allm_json *e = NULL; (e = allm_json_next(v, e));)
        answer_thought(&c->answer, json_is_type(e, ALLM_JSON_TEXT)
                                       ? json_slice(e)
                                       : json_text_at(e, "text"));
}

static void read_part(struct openai_chat *c, const allm_json *part)
{
    const allm_json *thought = json_at(part, "thinking");
    if (json_is_type(part, ALLM_JSON_TEXT))
        text_emit(c, json_slice(part));
    else if (thought)
        thought_emit(c, thought);
    else if (json_is(json_at(part, "type"), "refusal"))
        answer_refusal(&c->answer, json_text_at(part, "refusal"));
    else if (json_is(json_at(part, "type"), "reasoning"))
        answer_thought(&c->answer, json_text_at(part, "text"));
    else
        text_emit(c, json_text_at(part, "text"));
}

static void read_content(struct openai_chat *c, const allm_json *content)
{
    c->has_content = c->has_content || json_slice(content).len;
    if (json_is_type(content, ALLM_JSON_TEXT))
        text_emit(c, json_slice(content));
    else if (json_is_type(content, ALLM_JSON_OBJECT) &&
             allm_json_count(content))
        text_emit(c, sink_json(c->answer.sink, content));
    else if (json_is_type(content, ALLM_JSON_ARRAY))
        for (const allm_json *p = NULL; (p = allm_json_next(content, p));)
            read_part(c, p);
}

/* -------------------------------------------------------------- audio --- */

/* Keep the audio itself; each piece is encoded separately. */
static void keep_audio(struct openai_chat *c, const allm_json *audio)
{
    struct answer *a = &c->answer;
    bool any = false;
    struct build b = build_array_in(a->sink->arena);
    build_object(&b);
    for (const allm_json *k = NULL; (k = allm_json_next(audio, k));) {
        int64_t n = 0;
        const allm_json *v = allm_json_value(k);
        if (json_is(k, "transcript") ||
            (!json_slice(v).len && !(json_int64(v, &n) && n > 0)))
            continue;
        any = true;
        build_key(&b, json_slice(k));
        build_value(&b, v);
    }
    build_end(&b);
    const allm_json *list = build_finish(&b);
    if (!list)
        a->sink->status = ALLM_ERR_NOMEM;
    else if (any)
        answer_gather(a, "audio", list);
}

/* The transcript is text.  "expires_at" is in the last piece, and often nothing
 * else shows that the response is complete. */
static void read_audio(struct openai_chat *c, const allm_json *audio)
{
    int64_t until = 0;
    struct answer *a = &c->answer;
    if (!json_is_type(audio, ALLM_JSON_OBJECT))
        return;
    if (!c->has_content)
        text_emit(c, json_text_at(audio, "transcript"));
    keep_audio(c, audio);
    if (json_int64(json_at(audio, "expires_at"), &until) && until > 0 &&
        a->finish == ALLM_FINISH_NONE)
        answer_finish(a, ALLM_FINISH_STOP, SLICE(""));
}

/* ---------------------------------------------------------- reasoning --- */

/* Keep the details for the provider.  Emit them as reasoning only if no other
 * field has the reasoning. */
static void read_details(struct openai_chat *c, const allm_json *list,
                         bool has_text)
{
    struct answer *a = &c->answer;
    for (const allm_json *d = NULL; (d = allm_json_next(list, d));) {
        if (!json_is_type(d, ALLM_JSON_OBJECT))
            continue;
        if (!reasoning_details_add(&c->details, a->life, d))
            a->sink->status = ALLM_ERR_NOMEM;
        if (!has_text && !c->reasoning_before)
            answer_thought(a, reasoning_details_text(d));
    }
    if (c->details.over)
        sink_malformed(a->sink, "the response exceeds a limit of "
                                "reasoning_details: 65,536 elements, 8,192 "
                                "with an index, 256 members in each");
}

static void read_reasoning(struct openai_chat *c, const struct json_view *delta)
{
    static const struct slice names[] = { SLICE_INIT("reasoning_content"),
                                          SLICE_INIT("reasoning"),
                                          SLICE_INIT("reasoning_text"),
                                          SLICE_INIT("thinking") };
    const allm_json *list = json_in(delta, SLICE("reasoning_details"));
    struct slice reasoning = { NULL, 0 };
    for (size_t i = 0; !reasoning.len && i < sizeof names / sizeof *names; i++)
        reasoning = text_in(delta, names[i]);
    if (reasoning.len)
        answer_thought(&c->answer, reasoning);
    c->reasoning_before = c->reasoning_before || reasoning.len;
    if (json_is_type(list, ALLM_JSON_ARRAY))
        read_details(c, list, reasoning.len > 0);
}

/* -------------------------------------------------------------- calls --- */

/* Set the arguments: a string of JSON, or the value itself. */
static void set_arguments(struct calls_piece *p, const allm_json *v)
{
    if (json_is_type(v, ALLM_JSON_TEXT))
        p->text = json_slice(v);
    else if (json_is_type(v, ALLM_JSON_OBJECT) ||
             json_is_type(v, ALLM_JSON_ARRAY))
        p->object = v;
}

/* The state that the model behind a router needs back with the call. */
static const allm_json *call_state(struct openai_chat *c,
                                   const allm_json *extra)
{
    return json_is_type(extra, ALLM_JSON_OBJECT)
               ? answer_stamp(&c->answer, build_one(c->answer.sink->arena,
                                                    "extra_content", extra))
               : NULL;
}

/* Without an index, the position in a list of several calls is the index. */
static void read_call(struct openai_chat *c, const allm_json *element,
                      bool several, int64_t position)
{
    struct json_view call;
    if (!json_is_type(element, ALLM_JSON_OBJECT))
        return;
    json_view_init(&call, element);
    const allm_json *function = json_in(&call, SLICE("function"));
    const allm_json *custom = json_in(&call, SLICE("custom"));
    const allm_json *index = json_in(&call, SLICE("index"));
    struct calls_piece p = { .id = text_in(&call, SLICE("id")) };
    p.has_index = json_is_type(index, ALLM_JSON_INT) &&
                  json_int64(index, &p.index);
    if (!p.has_index && several) {
        p.has_index = true;
        p.index = position;
    }
    p.custom = json_is_type(custom, ALLM_JSON_OBJECT) &&
               !json_is_type(function, ALLM_JSON_OBJECT);
    if (p.custom)
        function = custom;
    else if (!json_is_type(function, ALLM_JSON_OBJECT))
        function = element;     /* flat */
    p.name = json_text_at(function, "name");
    set_arguments(&p, json_at(function, p.custom ? "input" : "arguments"));
    p.state = call_state(c, json_in(&call, SLICE("extra_content")));
    answer_call(&c->answer, &p);
}

/* The older form, which has one call only. */
static void read_legacy(struct openai_chat *c, const allm_json *legacy)
{
    struct calls_piece p = { .name = json_text_at(legacy, "name") };
    set_arguments(&p, json_at(legacy, "arguments"));
    answer_call(&c->answer, &p);
}

static void read_call_list(struct openai_chat *c, const allm_json *list)
{
    int64_t position = 0;
    if (json_is_type(list, ALLM_JSON_OBJECT))
        read_call(c, list, false, 0);
    else if (json_is_type(list, ALLM_JSON_ARRAY))
        for (const allm_json *e = NULL; (e = allm_json_next(list, e));)
            read_call(c, e, allm_json_count(list) > 1, position++);
}

static void read_calls(struct openai_chat *c, const struct json_view *delta)
{
    const allm_json *list = json_in(delta, SLICE("tool_calls"));
    const allm_json *legacy = json_in(delta, SLICE("function_call"));
    read_call_list(c, list);
    if (json_is_type(legacy, ALLM_JSON_OBJECT) && !allm_json_count(list))
        read_legacy(c, legacy);
}

/* ------------------------------------------------------------ choices --- */

/* The size of the content so far, to see whether a frame adds to it. */
static size_t content_size(const struct openai_chat *c)
{
    size_t n = c->answer.text.len + c->answer.thought.len +
               c->answer.refusal.len;
    for (const struct calls_slot *s = c->answer.calls.first; s; s = s->next)
        n += 1 + s->raw.len;
    return n;
}

static void read_members(struct openai_chat *c, const allm_json *v)
{
    static const struct slice lists[] = { SLICE_INIT("annotations"),
                                          SLICE_INIT("images"),
                                          SLICE_INIT("executed_tools") };
    struct answer *a = &c->answer;
    struct json_view delta;
    json_view_init(&delta, v);
    read_reasoning(c, &delta);
    read_content(c, json_in(&delta, SLICE("content")));
    read_audio(c, json_in(&delta, SLICE("audio")));
    answer_refusal(a, text_in(&delta, SLICE("refusal")));
    read_calls(c, &delta);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (json_is_type(json_in(&delta, lists[i]), ALLM_JSON_ARRAY))
            answer_gather(a, lists[i].ptr, json_in(&delta, lists[i]));
}

/* Nearly every delta has one member: "content" or "tool_calls". */
static void read_delta(struct openai_chat *c, const allm_json *v)
{
    bool single = allm_json_count(v) == 1;
    const allm_json *content = single ? json_at(v, "content") : NULL;
    const allm_json *calls = single && !content ? json_at(v, "tool_calls")
                                                : NULL;
    if (content)
        read_content(c, content);
    else if (calls)
        read_call_list(c, calls);
    else if (json_is_type(v, ALLM_JSON_OBJECT))
        read_members(c, v);
}

/* The finish reason; some servers send the string "null" for none. */
static struct slice finish_in(const struct json_view *choice)
{
    struct slice word = text_in(choice, SLICE("finish_reason"));
    return slice_is(word, "null") ? (struct slice){ NULL, 0 } : word;
}

static void read_finish(struct openai_chat *c, const struct json_view *choice,
                        bool added)
{
    struct answer *a = &c->answer;
    struct slice word = finish_in(choice);
    struct slice native = text_in(choice, SLICE("native_finish_reason"));
    const allm_json *filter = json_in(choice, SLICE("content_filter_results"));
    if (native.len) {
        c->native = arena_copy(a->life, native);
        answer_note(a, "native_finish_reason",
                    json_in(choice, SLICE("native_finish_reason")));
    }
    if (word.len)
        answer_finish(a, finish_of(finish_words, word), word);
    if (word.len && allm_json_count(filter))
        answer_note(a, "content_filter_results", filter);
    if (word.len && !answer_is_empty(a) && (!added || c->content_before))
        allm_sink_settle(a->sink);
    c->content_before = c->content_before || (added && !word.len);
}

static void read_logprobs(struct openai_chat *c, const struct json_view *choice)
{
    const allm_json *all = json_in(choice, SLICE("logprobs"));
    if (!json_is_type(all, ALLM_JSON_OBJECT))
        return;
    const allm_json *content = json_at(all, "content");
    const allm_json *refusal = json_at(all, "refusal");
    if (json_is_type(content, ALLM_JSON_ARRAY))
        answer_gather(&c->answer, "logprobs", content);
    if (json_is_type(refusal, ALLM_JSON_ARRAY))
        answer_gather(&c->answer, "refusal_logprobs", refusal);
}

/* Find the first choice, keeps (4).  False: there is none. */
static bool find_choice(const struct openai_chat *c,
                        const struct json_view *frame, struct json_view *choice)
{
    const allm_json *list = json_in(frame, SLICE("choices"));
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        list = NULL;
    for (const allm_json *e = NULL; (e = allm_json_next(list, e));) {
        int64_t index = 0;
        if (!json_is_type(e, ALLM_JSON_OBJECT))
            continue;
        sink_view(c->answer.sink, e, choice);
        json_int64(json_in(choice, SLICE("index")), &index);
        if (index == 0)
            return true;
    }
    json_view_init(choice, NULL);
    return false;
}

static void read_choice(struct openai_chat *c, const struct json_view *choice,
                        bool whole)
{
    const allm_json *message = json_in(choice, SLICE("message"));
    const allm_json *delta = json_in(choice, SLICE("delta"));
    const allm_json *text = json_in(choice, SLICE("text"));
    size_t before = content_size(c);
    answer_start(&c->answer);
    if (whole && json_is_type(message, ALLM_JSON_OBJECT))
        read_delta(c, message);
    else if (json_is_type(text, ALLM_JSON_TEXT) && (whole || !delta))
        read_content(c, text);
    else
        read_delta(c, delta);
    read_logprobs(c, choice);
    read_finish(c, choice, content_size(c) != before);
}

/* Add the usage; false: there are no counts. */
static bool take_usage(struct openai_chat *c, const allm_json *v)
{
    return json_is_type(v, ALLM_JSON_OBJECT) &&
           openai_usage_take(&c->answer, v);
}

static bool read_usage(struct openai_chat *c, const struct json_view *frame,
                       const struct json_view *choice)
{
    const allm_json *groq = json_in(frame, SLICE("x_groq"));
    return take_usage(c, json_in(frame, SLICE("usage"))) ||
           (groq && take_usage(c, json_at(groq, "usage"))) ||
           take_usage(c, json_in(choice, SLICE("usage")));
}

/* Read the id, the model and the metadata of the response. */
static void read_notes(struct openai_chat *c, const struct json_view *frame)
{
    static const struct slice names[] = { SLICE_INIT("system_fingerprint"),
                                          SLICE_INIT("service_tier"),
                                          SLICE_INIT("prompt_filter_results"),
                                          SLICE_INIT("citations"),
                                          SLICE_INIT("search_results") };
    if (!c->answer.id)
        answer_id(&c->answer, text_in(frame, SLICE("id")));
    if (!c->answer.model)
        answer_model(&c->answer, text_in(frame, SLICE("model")));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *v = json_in(frame, names[i]);
        if (v && !json_is_type(v, ALLM_JSON_NULL) &&
            !(json_is_type(v, ALLM_JSON_TEXT) && !json_slice(v).len))
            answer_note(&c->answer, names[i].ptr, v);
    }
}

/* A fast path: the frame is like the last one, but for its text. */
static bool read_repeated(struct openai_chat *c, struct slice data)
{
    struct calls_piece piece;
    if (!c->content_before ||
        !chat_repeat_next(&c->repeat, c->answer.sink, data, &piece))
        return false;
    if (c->repeat.call) {
        answer_call(&c->answer, &piece);
        return true;
    }
    c->has_content = c->has_content || piece.text.len;
    text_emit(c, piece.text);
    return true;
}

/* ------------------------------------------------ end of the response --- */

/* Keep what must be sent back with the message. */
static void keep_state(struct openai_chat *c)
{
    struct answer *a = &c->answer;
    bool thoughts = (c->quirks & CHAT_REPLAY_REASONING) && a->thought.len;
    const allm_json *details = reasoning_details_list(&c->details,
                                                      a->sink->arena);
    if (!thoughts && !details)
        return;
    struct build b = build_object_in(a->sink->arena);
    if (thoughts)
        build_text_at(&b, "reasoning_content", buf_slice(&a->thought));
    build_value_if(&b, "reasoning_details", details);
    answer_state(a, build_finish(&b));
}

/* A response that is only a refusal was filtered, even if the finish reason is
 * "stop". */
static void settle_finish(struct openai_chat *c)
{
    struct answer *a = &c->answer;
    answer_settle(a);
    if (a->refusal.len && !a->text.len && !a->calls.first &&
        a->finish == ALLM_FINISH_STOP)
        answer_finish(a, ALLM_FINISH_CONTENT_FILTER, SLICE("refusal"));
}

/* Did the model reach its token limit, although the router reports
 * "tool_calls"? */
static bool was_cut(const struct openai_chat *c)
{
    return c->native && c->answer.finish == ALLM_FINISH_TOOL_CALLS &&
           calls_cut(&c->answer.calls) &&
           finish_of(finish_words, slice_of(c->native)) == ALLM_FINISH_LENGTH;
}

static allm_status response_complete(struct openai_chat *c)
{
    struct answer *a = &c->answer;
    answer_tagged_end(a, &c->think);
    if (a->finish == ALLM_FINISH_NONE && answer_is_empty(a))
        return answer_truncated(a, "the response is empty: it ended before "
                                   "any content arrived");
    settle_finish(c);
    if (was_cut(c))
        a->finish = ALLM_FINISH_LENGTH;
    keep_state(c);
    return answer_close(a);
}

static allm_status fail_with_error(struct openai_chat *c,
                                   const allm_json *document)
{
    return answer_fail_as(&c->answer, document, error_body_read);
}

/* ------------------------------------------------------------- frames --- */

/* The error in a frame, in any position; NULL: none. */
static const allm_json *error_in(const struct json_view *frame,
                                 const struct json_view *choice)
{
    const allm_json *groq = json_in(frame, SLICE("x_groq"));
    bool list = json_is_type(frame->object, ALLM_JSON_ARRAY);
    if (list ? error_body_is(frame->object) : error_body_in(frame))
        return frame->object;
    if (error_body_in(choice))
        return choice->object;
    return groq && error_body_is(groq) ? groq : NULL;
}

static allm_status read_frame(struct openai_chat *c, const allm_json *v)
{
    struct json_view frame, choice;
    sink_view(c->answer.sink, v, &frame);
    bool chosen = find_choice(c, &frame, &choice);
    const allm_json *error = error_in(&frame, &choice);
    read_notes(c, &frame);
    bool counts = read_usage(c, &frame, &choice);
    if (error)
        return fail_with_error(c, error);
    if (chosen)
        read_choice(c, &choice, false);
    else if (!counts)
        allm_sink_idle(c->answer.sink);
    if (chosen && !counts && c->answer.id && c->answer.model)
        chat_repeat_watch(&c->repeat, c->answer.sink, &frame, &choice);
    return ALLM_OK;
}

static allm_status read_document(struct openai_chat *c, const allm_json *v)
{
    struct json_view all, choice;
    json_view_init(&all, v);
    bool chosen = find_choice(c, &all, &choice);
    const allm_json *error = error_in(&all, &choice);
    read_notes(c, &all);
    read_usage(c, &all, &choice);
    if (error)
        return fail_with_error(c, error);
    if (!chosen)
        return explain_message(v)
                   ? fail_with_error(c, v)
                   : answer_malformed(&c->answer, "the response is a JSON "
                                                  "document without choices");
    read_choice(c, &choice, true);
    return response_complete(c);
}

static allm_status frame_parse(struct openai_chat *c, const allm_frame *frame)
{
    struct answer *a = &c->answer;
    struct slice data =
        slice_trim((struct slice){ frame->data, frame->data_len });
    struct slice name = { frame->name, frame->name_len };
    if (!name.len && read_repeated(c, data))
        return ALLM_OK;
    if (slice_starts(data, SLICE("[DONE]")))
        return response_complete(c);
    if (!data.len)
        return ALLM_OK;
    const allm_json *v = sink_parse_frame(a->sink, data);
    if (a->sink->status < 0)
        return a->sink->status;
    if (slice_is(name, "error") && !(frame->cut && !v))
        return fail_with_error(c, answer_error_text(a, data, v));
    if (!v && frame->cut)
        return ALLM_OK;         /* finish() decides whether it matters */
    if (!v && frame->whole)
        return answer_not_json(a, data);
    if (frame->whole)
        return read_document(c, v);
    if (json_is_type(v, ALLM_JSON_NULL))
        return ALLM_OK;
    if (!json_is_type(v, ALLM_JSON_OBJECT) && !error_body_is(v))
        return answer_malformed(a, "an event of the response is not a JSON "
                                   "object");
    return read_frame(c, v);
}

/* Begin decode() and finish(); false: the response is over. */
static bool decode_begin(struct openai_chat *c, const allm_call *call,
                         allm_sink *sink)
{
    if (!answer_open(&c->answer, call, sink))
        return false;
    if (!c->began) {
        c->quirks = quirks_read(quirks_chat, call);
        c->think.inside = (c->quirks & CHAT_THINK_INSIDE) != 0;
    }
    c->began = true;
    return true;
}

static allm_status openai_chat_decode(void *state, const allm_call *call,
                                      const allm_frame *frame, allm_sink *sink)
{
    struct openai_chat *c = state;
    if (!decode_begin(c, call, sink))
        return ALLM_OK;
    c->answer.calls.frame++;
    return frame_parse(c, frame);
}

static allm_status openai_chat_finish(void *state, const allm_call *call,
                                      allm_sink *sink)
{
    struct openai_chat *c = state;
    if (!decode_begin(c, call, sink))
        return ALLM_OK;
    if (c->answer.finish != ALLM_FINISH_NONE)
        return response_complete(c);
    return answer_ended_early(&c->answer,
                              "the response is incomplete: it has neither "
                              "a finish reason nor [DONE]");
}

const allm_adapter openai_chat_adapter = {
    .size = sizeof(allm_adapter),
    .name = "openai_chat",
    .state_size = sizeof(struct openai_chat),
    .framing = ALLM_FRAMING_SSE,
    .encode = openai_chat_encode,
    .decode = openai_chat_decode,
    .finish = openai_chat_finish,
    .explain = error_body_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
