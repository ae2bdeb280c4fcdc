/*
 * adapter.c - the scripted model: an adapter that needs no network
 *
 *      adapter_opts --open--> the entries of this call --next--> events
 *
 *      message_started, then for each entry its events, then the closing:
 *      reasoning_completed?, usage?, text_completed?, message_completed
 *
 * The player stores a position in the script, but no text.  Where a complete
 * text is needed, it joins the entries once more.  To wait, it returns
 * ALLM_AGAIN with a time of the call's clock.
 *
 * Errors in a script are ordinary events: the entries after them are played.
 */
#include "provider/dialects.h"

#include "base/attachment.h"
#include "base/buf.h"
#include "base/clock.h"
#include "data/decode.h"
#include "data/message.h"
#include "provider/fake/log.h"
#include "provider/fake/script.h"
#include "provider/sink.h"
#include "json/json.h"

#include <stdint.h>

enum phase { BEFORE, PLAYING, WAITING, OVER };

struct player {
    struct mem mem;             /* the engine's; outlives the call */
    struct fake_log *log;
    const allm_json *entries;
    const allm_json *at;        /* the last entry played; NULL: none */
    const allm_json *reasoning; /* where the open reasoning starts; or NULL */
    const allm_json *usage;     /* replaces that of the script; or NULL */
    struct allm_home *home;     /* of a response's message; or NULL */
    int64_t until_ns;           /* WAITING */
    enum phase phase;
    bool has_text;              /* some text was not empty */
};

/* The empty message of the first event, and the basis of the last one. */
static const allm_message empty_message = {
    .size = sizeof(allm_message),
    .role = ALLM_ROLE_ASSISTANT,
    .text = "",
};

/* --------------------------------------------------------------- open --- */

static allm_status call_fail(allm_sink *sink, allm_status kind,
                             const char *reason, const char *message,
                             bool final)
{
    return allm_sink_fail(
        sink, ALLM(error, .kind = kind, .reason = reason, .message = message),
        final);
}

static allm_status script_exhausted(allm_sink *sink)
{
    return call_fail(sink, ALLM_ERR_ADAPTER, "no_scripted_response",
                     "no scripted response", true);
}

/* Fail the call if its first entry is a preflight_error. */
static allm_status preflight_refuse(const allm_json *entries, allm_sink *sink)
{
    allm_error error;
    struct fake_entry first = fake_entry_read(allm_json_next(entries, NULL));
    if (first.tag != FAKE_PREFLIGHT_ERROR)
        return ALLM_OK;
    fake_read_error(&first, &error);
    return allm_sink_fail(sink, &error, true);
}

/* Must this attempt fail temporarily? */
static bool must_fail_once(const struct player *p, const allm_json *opts)
{
    int64_t n = 0;
    allm_json_int64(allm_json_get(opts, "retry_until_call"), &n);
    return n > 1 && fake_log_transient(p->log, n);
}

/* Select the entries of the next call, and advance the position. */
static allm_status call_choose(struct player *p,
                               const struct fake_script *script,
                               allm_sink *sink)
{
    if (!script->only && !script->calls)
        return script_exhausted(sink);
    uint64_t index = fake_log_next(p->log);
    p->entries = fake_script_call(script, index);
    if (!p->entries)
        return script_exhausted(sink);
    const allm_error *error =
        index ? fake_script_check_call(sink->arena, p->entries, (size_t)index)
              : NULL;           /* the first call checked all entries */
    return error ? allm_sink_fail(sink, error, true)
                 : preflight_refuse(p->entries, sink);
}

static const allm_error *script_check(const struct player *p,
                                      struct fake_script *script,
                                      const allm_json *opts, allm_sink *sink)
{
    const allm_error *error = fake_script_read(script, sink->arena, opts);
    if (error || fake_log_position(p->log) > 0)
        return error;
    return fake_script_check(sink->arena, script);
}

static allm_status fake_open(void *state, const allm_call *call,
                             allm_sink *sink)
{
    struct player *p = state;
    struct fake_script script;
    const allm_json *opts = call->adapter_opts;
    p->mem = attachment_mem(call->attachments);
    p->log = fake_log_of(call->attachments, p->mem);
    if (!p->log)
        return ALLM_ERR_NOMEM;
    const allm_error *error = script_check(p, &script, opts, sink);
    if (error)
        return allm_sink_fail(sink, error, true);
    fake_log_call(p->log);
    if (allm_json_true(allm_json_get(opts, "record")) &&
        !fake_log_request(p->log, call->request))
        return ALLM_ERR_NOMEM;
    if (must_fail_once(p, opts))
        return call_fail(sink, ALLM_ERR_ADAPTER, "timeout",
                         "scripted timeout (retry_until_call)", false);
    p->usage = allm_json_get(opts, "usage");
    if (allm_json_type_of(p->usage) == ALLM_JSON_NULL)
        p->usage = NULL;
    return call_choose(p, &script, sink);
}

static void fake_close(void *state, const allm_call *call)
{
    (void)call;
    struct player *p = state;
    home_drop(p->home);
    fake_log_release(p->log);
}

/* ------------------------------------------------------------- events --- */

static void put_text(allm_sink *sink, allm_event_type type, struct slice text)
{
    allm_event *event = sink_add(sink, type);
    if (!event)
        return;
    event->text = text.ptr;
    event->text_len = text.len;
}

/* Join the texts of one kind, from an entry to the last one played. */
static struct slice texts_join(const struct player *p, enum fake_tag tag,
                               const allm_json *from, allm_sink *sink)
{
    struct buf text = buf_in(sink->arena, SIZE_MAX / 2);
    const allm_json *end = allm_json_next(p->entries, p->at);
    for (const allm_json *v = from; v && v != end;
         v = allm_json_next(p->entries, v)) {
        struct fake_entry e = fake_entry_read(v);
        if (e.tag == tag)
            buf_add(&text, json_slice(e.value));
        else if (e.tag == FAKE_OK && tag == FAKE_TEXT)
            buf_add(&text, json_slice(fake_response_text(e.value)));
    }
    if (text.broken)
        sink->status = ALLM_ERR_NOMEM;
    return buf_slice(&text);
}

/* Another kind of event follows: emit the complete reasoning. */
static void end_reasoning(struct player *p, allm_sink *sink)
{
    if (!p->reasoning)
        return;
    put_text(sink, ALLM_EV_REASONING_COMPLETED,
             texts_join(p, FAKE_REASONING, p->reasoning, sink));
    p->reasoning = NULL;
}

static void put_usage(const allm_json *map, allm_sink *sink)
{
    allm_event *event = sink_add(sink, ALLM_EV_USAGE);
    allm_usage *usage = allm_sink_alloc(sink, sizeof *usage);
    if (!event || !usage)
        return;
    fake_read_usage(map, usage);
    event->usage = usage;
}

/* Set the arguments and their JSON text; a script may have either one. */
static void fill_arguments(const allm_json *call, allm_event *event,
                           allm_sink *sink)
{
    const allm_json *args = fake_member(call, "arguments");
    struct slice raw = json_slice(fake_member(call, "raw_arguments"));
    event->arguments = args ? args : json_empty_object();
    if (!args && raw.len) {
        args = allm_sink_parse(sink, raw.ptr, raw.len);
        if (allm_json_type_of(args) == ALLM_JSON_OBJECT)
            event->arguments = args;
    }
    if (!raw.ptr)
        raw = sink_json(sink, event->arguments);
    event->raw_arguments = raw.ptr;
    event->raw_len = raw.len;
}

static void put_call(const allm_json *call, allm_sink *sink)
{
    const char *id = allm_json_text(allm_json_get(call, "id"), NULL);
    const char *name = allm_json_text(allm_json_get(call, "name"), NULL);
    allm_event *started = sink_add(sink, ALLM_EV_TOOL_CALL_STARTED);
    allm_event *completed = sink_add(sink, ALLM_EV_TOOL_CALL_COMPLETED);
    if (!started || !completed)
        return;
    started->id = completed->id = id;
    started->name = completed->name = name;
    completed->metadata = fake_member(call, "metadata");
    fill_arguments(call, completed, sink);
}

static void put_delta(const allm_json *delta, allm_sink *sink)
{
    allm_event *event = sink_add(sink, ALLM_EV_TOOL_CALL_DELTA);
    if (!event)
        return;
    event->id = allm_json_text(allm_json_get(delta, "id"), NULL);
    event->text = allm_json_text(allm_json_get(delta, "arguments_delta"),
                                 &event->text_len);
}

static void put_chunk(const allm_json *chunk, allm_sink *sink)
{
    allm_event *event = sink_add(sink, ALLM_EV_RAW_CHUNK);
    if (event)
        event->chunk = chunk;
}

static void put_error(const struct fake_entry *e, allm_sink *sink)
{
    allm_error error;
    fake_read_error(e, &error);
    allm_sink_put(sink, ALLM(event, .type = ALLM_EV_ERROR, .error = &error));
}

/* ------------------------------------------------- end of the message --- */

static allm_message *make_message(struct slice text, allm_sink *sink)
{
    allm_message *m = allm_sink_alloc(sink, sizeof *m);
    if (!m)
        return NULL;
    *m = empty_message;
    m->text = text.ptr;
    m->text_len = text.len;
    return m;
}

static allm_event *message_finish(struct player *p, allm_finish reason,
                                  allm_sink *sink)
{
    struct slice text = { "", 0 };
    end_reasoning(p, sink);
    if (p->usage)
        put_usage(p->usage, sink);
    if (p->has_text) {
        text = texts_join(p, FAKE_TEXT, allm_json_next(p->entries, NULL), sink);
        put_text(sink, ALLM_EV_TEXT_COMPLETED, text);
    }
    p->phase = OVER;
    allm_event *event = sink_add(sink, ALLM_EV_MESSAGE_COMPLETED);
    if (!event)
        return NULL;
    event->message = make_message(text, sink);
    event->finish_reason = reason;
    return event;
}

/* The metadata of a scripted response, including members that events lack. */
static const allm_json *response_metadata(const allm_json *r, allm_sink *sink)
{
    static const char *const renamed[][2] = {
        { "id", "response_id" },
        { "model", "response_model" },
        { "raw_finish_reason", "raw_finish_reason" },
    };
    const allm_json *all = fake_member(r, "metadata");
    if (allm_json_type_of(all) != ALLM_JSON_OBJECT)
        all = json_empty_object();
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        const allm_json *v = fake_member(r, renamed[i][0]);
        if (allm_json_type_of(v) == ALLM_JSON_TEXT && all)
            all = json_set(sink->arena, all, slice_of(renamed[i][1]), v);
    }
    if (!all)
        sink->status = ALLM_ERR_NOMEM;
    return all;
}

/* Decode the message of a scripted response, if any; it lives until close. */
static void decode_message(struct player *p, const allm_json *r,
                           allm_event *event, allm_sink *sink)
{
    struct decoder d;
    const allm_json *v = fake_member(r, "message");
    if (!v || sink->status < 0)
        return;
    p->home = home_new(p->mem, json_size(v));
    if (!p->home) {
        sink->status = ALLM_ERR_NOMEM;
        return;
    }
    decode_init(&d, p->home, home_arena(p->home));
    const allm_message *m = decode_value(&d, &message_shape, v);
    if (m)
        event->message = m;
    else if (d.error && d.error->kind == ALLM_ERR_NOMEM)
        sink->status = ALLM_ERR_NOMEM;
}

/* A complete response in one entry: emit all of its events. */
static void put_response(struct player *p, const allm_json *r, allm_sink *sink)
{
    allm_finish reason = ALLM_FINISH_STOP;
    struct slice text = json_slice(fake_response_text(r));
    const allm_json *calls = fake_member(r, "tool_calls");
    end_reasoning(p, sink);
    if (text.len)
        put_text(sink, ALLM_EV_TEXT_DELTA, text);
    p->has_text = p->has_text || text.len;
    for (const allm_json *c = NULL; (c = allm_json_next(calls, c));)
        put_call(c, sink);
    if (fake_member(r, "usage") && !p->usage)
        put_usage(fake_member(r, "usage"), sink);
    if (fake_member(r, "finish_reason"))
        fake_read_finish(fake_member(r, "finish_reason"), &reason);
    allm_event *event = message_finish(p, reason, sink);
    if (!event)
        return;
    const allm_json *metadata = response_metadata(r, sink);
    event->metadata = allm_json_count(metadata) ? metadata : NULL;
    decode_message(p, r, event, sink);
}

/* ----------------------------------------------------------- playback --- */

/* Play an entry that is neither text nor a delay. */
static void entry_play(struct player *p, const struct fake_entry *e,
                       allm_sink *sink)
{
    allm_finish reason;

    if (e->tag == FAKE_USAGE && p->usage)
        return;                 /* adapter_opts override it */
    end_reasoning(p, sink);
    switch (e->tag) {
    case FAKE_TOOL_CALL:
        put_call(e->value, sink);
        break;
    case FAKE_TOOL_CALL_DELTA:
        put_delta(e->value, sink);
        break;
    case FAKE_USAGE:
        put_usage(e->value, sink);
        break;
    case FAKE_RAW_CHUNK:
        put_chunk(e->value, sink);
        break;
    case FAKE_FINISH:
        fake_read_finish(e->value, &reason);
        message_finish(p, reason, sink);
        break;
    case FAKE_OK:
        put_response(p, e->value, sink);
        break;
    default:
        put_error(e, sink);
        break;
    }
}

static void text_play(struct player *p, struct slice text, allm_sink *sink)
{
    end_reasoning(p, sink);
    p->has_text = p->has_text || text.len;
    put_text(sink, ALLM_EV_TEXT_DELTA, text);
}

static void thought_play(struct player *p, struct slice text, allm_sink *sink)
{
    if (!p->reasoning)
        p->reasoning = p->at;
    put_text(sink, ALLM_EV_REASONING_DELTA, text);
}

/* True: there is a delay to wait for. */
static bool delay_begin(struct player *p, const allm_json *ms,
                        const allm_call *call)
{
    int64_t n = 0;
    fake_read_delay(ms, &n);
    if (n == 0)
        return false;
    p->until_ns = clock_after(call->clock->now_ns(call->clock->ud), n);
    p->phase = WAITING;
    return true;
}

/* Play entries until one emits an event or waits. */
static allm_status script_advance(struct player *p, const allm_call *call,
                                  allm_sink *sink, int64_t *again_ns)
{
    while (!sink->first && sink->status == ALLM_OK) {
        const allm_json *next = allm_json_next(p->entries, p->at);
        if (!next) {
            message_finish(p, ALLM_FINISH_NONE, sink);
            break;
        }
        struct fake_entry e = fake_entry_read(next);
        p->at = next;
        if (e.tag == FAKE_TEXT)
            text_play(p, json_slice(e.value), sink);
        else if (e.tag == FAKE_REASONING)
            thought_play(p, json_slice(e.value), sink);
        else if (e.tag != FAKE_DELAY)
            entry_play(p, &e, sink);
        else if (delay_begin(p, e.value, call)) {
            *again_ns = p->until_ns;
            return ALLM_AGAIN;
        }
    }
    return sink->status < 0 ? sink->status : ALLM_EVENT;
}

static allm_status fake_next(void *state, const allm_call *call,
                             allm_sink *sink, int64_t *again_ns)
{
    struct player *p = state;
    allm_event *event;

    switch (p->phase) {
    case BEFORE:
        p->phase = PLAYING;
        event = sink_add(sink, ALLM_EV_MESSAGE_STARTED);
        if (!event)
            return ALLM_ERR_NOMEM;
        event->message = &empty_message;
        return ALLM_EVENT;
    case WAITING:
        *again_ns = p->until_ns;
        if (call->clock->now_ns(call->clock->ud) < p->until_ns)
            return ALLM_AGAIN;
        p->phase = PLAYING;
        break;
    case PLAYING:
        break;
    case OVER:
        return ALLM_OK;
    }
    return script_advance(p, call, sink, again_ns);
}

const allm_adapter fake_adapter = {
    .size = sizeof(allm_adapter),
    .name = "fake",
    .state_size = sizeof(struct player),
    .open = fake_open,
    .next = fake_next,
    .close = fake_close,
};
