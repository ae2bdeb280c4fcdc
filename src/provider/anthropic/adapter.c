/*
 * adapter.c - the adapter for /v1/messages: decodes its events
 *
 *      message_start
 *        content_block_start  content_block_delta...  content_block_stop
 *        ...                                          (ping anywhere)
 *      message_delta           stop_reason, usage
 *      message_stop
 *
 *   (1) The type in the data counts; the event's name only if there is none.
 *   (2) The response ends at message_stop, or at the end of the body if there
 *       was a stop_reason.
 *   (3) An error ends the response wherever it occurs.
 *   (4) Unknown events are emitted as raw chunks and otherwise ignored.
 *   (5) message_start may already contain blocks, for example after the result
 *       of a call made by the provider's code.  They are the first blocks,
 *       unless they are repeated as events.
 */
#include "provider/dialects.h"

#include "provider/anthropic/block.h"
#include "provider/anthropic/encode.h"
#include "provider/anthropic/error.h"
#include "provider/anthropic/usage.h"
#include "provider/explain.h"
#include "provider/finish.h"
#include "provider/quirks.h"
#include "json/json.h"

/* The state of one response; initially zero. */
struct anthropic {
    struct answer answer;
    struct anthropic_blocks blocks;
    struct buf usage;           /* Anthropic's, merged, as JSON text */
    const allm_json *initial;   /* the message_start, while its blocks are not
                                   emitted yet; or NULL */
    bool started;               /* message_start arrived */
};

static const struct finish_word finish_reasons[] = {
    { "end_turn", ALLM_FINISH_STOP },
    { "stop_sequence", ALLM_FINISH_STOP },
    { "stop", ALLM_FINISH_STOP },           /* from here: compatible servers */
    { "max_tokens", ALLM_FINISH_LENGTH },
    { "model_context_window_exceeded", ALLM_FINISH_LENGTH },
    { "length", ALLM_FINISH_LENGTH },
    { "tool_use", ALLM_FINISH_TOOL_CALLS },
    { "tool_calls", ALLM_FINISH_TOOL_CALLS },
    { "refusal", ALLM_FINISH_CONTENT_FILTER },
    { "content_filter", ALLM_FINISH_CONTENT_FILTER },
    { NULL, ALLM_FINISH_OTHER },            /* pause_turn, compaction, ... */
};

static int64_t index_of(const allm_json *event)
{
    int64_t index = 0;
    json_int64(json_at(event, "index"), &index);
    return index;
}

/* ------------------------------------------ notes, usage, stop reason --- */

/* Note other members of a message or of a message_delta. */
static void read_notes(struct anthropic *c, const allm_json *from)
{
    static const char *const names[] = { "stop_sequence", "stop_details",
                                         "container", "context_management",
                                         "input_transformations" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *v = json_at(from, names[i]);
        bool none = json_is_type(v, ALLM_JSON_NULL) ||
                    (json_is_type(v, ALLM_JSON_ARRAY) && !allm_json_count(v));
        if (v && !none)
            answer_note(&c->answer, names[i], v);
    }
}

static void read_usage(struct anthropic *c, const allm_json *usage,
                       bool is_first)
{
    struct answer *a = &c->answer;
    if (!json_is_type(usage, ALLM_JSON_OBJECT))
        return;
    struct arena *events = a->sink->arena;
    const allm_json *previous = answer_kept(events, &c->usage);
    const allm_json *all = anthropic_usage_merge(events, previous, usage);
    if ((c->usage.len && !previous) || !all || !answer_keep(&c->usage, all)) {
        a->sink->status = ALLM_ERR_NOMEM;
        return;
    }
    allm_usage ours = anthropic_usage_read(events, all, is_first);
    answer_usage(a, &ours);
}

static void read_stop(struct anthropic *c, const allm_json *from)
{
    struct slice reason = json_text_at(from, "stop_reason");
    if (!reason.len)
        return;
    answer_finish(&c->answer, finish_of(finish_reasons, reason), reason);
    allm_sink_settle(c->answer.sink);
}

/* ----------------------------------------------------- whole messages --- */

static void read_blocks(struct anthropic *c, const allm_json *content)
{
    int64_t index = 0;
    for (const allm_json *b = NULL;
         !c->answer.sink->failure && (b = allm_json_next(content, b));) {
        if (!json_is_type(b, ALLM_JSON_OBJECT))
            continue;
        if (!anthropic_block_start(&c->blocks, index, b))
            answer_raw(&c->answer, b);
        anthropic_block_stop(&c->blocks, index++);
    }
}

/* Keeps (5): emit the blocks of message_start, now that they are not
 * repeated. */
static void emit_initial(struct anthropic *c)
{
    const allm_json *content = json_at(c->initial, "content");
    c->initial = NULL;
    read_blocks(c, content);
}

/* The same if the end follows immediately: then everything in message_start
 * counts. */
static void finish_initial(struct anthropic *c)
{
    const allm_json *message = c->initial;
    if (!message)
        return;
    emit_initial(c);
    read_usage(c, json_at(message, "usage"), false);
    read_stop(c, message);
}

/* ------------------------------------------------------------ the end --- */

/* The response has ended. */
static allm_status response_complete(struct anthropic *c)
{
    struct answer *a = &c->answer;
    anthropic_block_end(&c->blocks);
    if (a->finish == ALLM_FINISH_NONE && answer_is_empty(a))
        return answer_truncated(a, "the response is empty: it ended before "
                                   "any content arrived");
    answer_settle(a);
    answer_state(a, anthropic_block_state(&c->blocks));
    return answer_close(a);
}

/* The body has ended, or its useful part. */
static allm_status response_end(struct anthropic *c)
{
    struct answer *a = &c->answer;
    finish_initial(c);
    if (a->finish != ALLM_FINISH_NONE) {
        answer_warn(a, "message_stop_missing");
        return response_complete(c);
    }
    return answer_ended_early(a, "the response is incomplete: it has "
                                 "neither a stop reason nor message_stop");
}

static allm_status response_fail(struct anthropic *c, const allm_json *document)
{
    return answer_fail_as(&c->answer, document, anthropic_error_read);
}

/* ------------------------------------------------------------- events --- */

static allm_status on_ping(struct anthropic *c, const allm_json *event)
{
    (void)event;
    allm_sink_idle(c->answer.sink);
    return ALLM_OK;
}

static void keep_initial(struct anthropic *c, const allm_json *message)
{
    const allm_json *content = json_at(message, "content");
    if (!json_is_type(content, ALLM_JSON_ARRAY) || !allm_json_count(content))
        return;
    c->initial = json_copy(c->answer.life, message);
    if (!c->initial)
        c->answer.sink->status = ALLM_ERR_NOMEM;
}

static allm_status on_start(struct anthropic *c, const allm_json *event)
{
    const allm_json *message = json_at(event, "message");
    if (c->started)             /* some servers send it twice */
        return ALLM_OK;
    c->started = true;
    answer_start(&c->answer);
    answer_id(&c->answer, json_text_at(message, "id"));
    answer_model(&c->answer, json_text_at(message, "model"));
    read_notes(c, message);
    read_usage(c, json_at(message, "usage"), true);
    keep_initial(c, message);
    return ALLM_OK;
}

static allm_status on_block_start(struct anthropic *c, const allm_json *event)
{
    const allm_json *block = json_at(event, "content_block");
    size_t initial = allm_json_count(json_at(c->initial, "content"));
    if (index_of(event) < (int64_t)initial)
        c->initial = NULL;      /* repeated by events */
    emit_initial(c);
    if (!json_is_type(block, ALLM_JSON_OBJECT) ||
        !anthropic_block_start(&c->blocks, index_of(event), block))
        answer_raw(&c->answer, event);
    return ALLM_OK;
}

static allm_status on_block_delta(struct anthropic *c, const allm_json *event)
{
    const allm_json *delta = json_at(event, "delta");
    if (!json_is_type(delta, ALLM_JSON_OBJECT) ||
        !anthropic_block_grow(&c->blocks, index_of(event), delta))
        answer_raw(&c->answer, event);
    return ALLM_OK;
}

static allm_status on_block_stop(struct anthropic *c, const allm_json *event)
{
    anthropic_block_stop(&c->blocks, index_of(event));
    return ALLM_OK;
}

static allm_status on_delta(struct anthropic *c, const allm_json *event)
{
    const allm_json *delta = json_at(event, "delta");
    emit_initial(c);
    read_notes(c, event);
    read_notes(c, delta);
    read_usage(c, json_at(event, "usage"), false);
    read_stop(c, delta);
    return ALLM_OK;
}

static allm_status on_stop(struct anthropic *c, const allm_json *event)
{
    (void)event;
    finish_initial(c);
    return response_complete(c);
}

static const struct {
    struct slice type;
    allm_status (*on)(struct anthropic *c, const allm_json *event);
} handlers[] = {
    { SLICE_INIT("content_block_delta"), on_block_delta },
    { SLICE_INIT("content_block_start"), on_block_start },
    { SLICE_INIT("content_block_stop"), on_block_stop },
    { SLICE_INIT("message_start"), on_start },
    { SLICE_INIT("message_delta"), on_delta },
    { SLICE_INIT("message_stop"), on_stop },
    { SLICE_INIT("ping"), on_ping },
    { SLICE_INIT("error"), response_fail },
};

static allm_status read_event(struct anthropic *c, struct slice name,
                              const allm_json *event)
{
    struct slice type = json_text_at(event, "type");
    if (!type.len && json_is_type(json_at(event, "error"), ALLM_JSON_OBJECT))
        type = SLICE("error");
    if (!type.len)
        type = name;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (slice_eq(type, handlers[i].type))
            return handlers[i].on(c, event);
    answer_raw(&c->answer, event);
    return ALLM_OK;
}

/* ---------------------------------------------------------- documents --- */

static allm_status read_document(struct anthropic *c, const allm_json *all)
{
    struct answer *a = &c->answer;
    const allm_json *content = json_at(all, "content");
    if (json_is(json_at(all, "type"), "error"))
        return response_fail(c, all);
    if (!json_is_type(content, ALLM_JSON_ARRAY))
        return explain_message(all)
                   ? response_fail(c, all)
                   : answer_malformed(a, "the response is a JSON document "
                                         "without content");
    answer_start(a);
    answer_id(a, json_text_at(all, "id"));
    answer_model(a, json_text_at(all, "model"));
    read_blocks(c, content);
    read_notes(c, all);
    read_usage(c, json_at(all, "usage"), false);
    read_stop(c, all);
    return response_complete(c);
}

/* ------------------------------------------------------------- frames --- */

static allm_status frame_parse(struct anthropic *c, const allm_frame *frame)
{
    struct answer *a = &c->answer;
    struct slice data =
        slice_trim((struct slice){ frame->data, frame->data_len });
    struct slice name = { frame->name, frame->name_len };
    if (slice_starts(data, SLICE("[DONE]")))
        return response_end(c);     /* sent by gateways at the end */
    if (!data.len)
        return ALLM_OK;
    const allm_json *v = sink_parse_frame(a->sink, data);
    if (a->sink->status < 0)
        return a->sink->status;
    if (!v && frame->cut)
        return ALLM_OK;         /* anthropic_finish() decides */
    if (!v && frame->whole)
        return answer_not_json(a, data);
    if (frame->whole)
        return read_document(c, v);
    if (json_is_type(v, ALLM_JSON_OBJECT))
        return read_event(c, name, v);
    if (slice_is(name, "error"))
        return response_fail(c, answer_error_text(a, data, v));
    return json_is_type(v, ALLM_JSON_NULL)
               ? ALLM_OK
               : answer_malformed(a, "an event of the response is not a "
                                     "JSON object");
}

/* Both public functions begin with this. */
static bool decode_begin(struct anthropic *c, const allm_call *call,
                         allm_sink *sink)
{
    if (!answer_open(&c->answer, call, sink))
        return false;
    if (!c->blocks.answer) {
        c->blocks.answer = &c->answer;
        buf_init(&c->usage, c->answer.life, SIZE_MAX / 2);
        c->blocks.unsigned_thoughts = quirks_read(quirks_anthropic, call) &
                                      ANTHROPIC_UNSIGNED_THOUGHTS;
    }
    return true;
}

static allm_status anthropic_decode(void *state, const allm_call *call,
                                    const allm_frame *frame, allm_sink *sink)
{
    struct anthropic *c = state;
    return decode_begin(c, call, sink) ? frame_parse(c, frame) : ALLM_OK;
}

static allm_status anthropic_finish(void *state, const allm_call *call,
                                    allm_sink *sink)
{
    struct anthropic *c = state;
    return decode_begin(c, call, sink) ? response_end(c) : ALLM_OK;
}

const allm_adapter anthropic_adapter = {
    .size = sizeof(allm_adapter),
    .name = "anthropic",
    .state_size = sizeof(struct anthropic),
    .framing = ALLM_FRAMING_SSE,
    .encode = anthropic_encode,
    .decode = anthropic_decode,
    .finish = anthropic_finish,
    .explain = anthropic_error_explain,
    .auth_header = "x-api-key",
};
