/*
 * event.c - the events of a stream, and their JSON form
 *
 * One struct serves all events; a table of rows per type lists the members
 * that it has and their names.  The JSON form is flat, without envelopes.
 */
#include "data/event.h"

#include "base/status.h"
#include "data/chat_result.h"
#include "data/error.h"
#include "data/message.h"
#include "data/response.h"
#include "data/thread.h"
#include "data/tool_call.h"
#include "data/usage.h"
#include "json/json.h"
#include "json/parse.h"

static const struct shape_words mode_words = WORDS("auto", "manual");
static const struct shape_words type_words =
    WORDS(NULL, "message_started", "text_delta", "text_completed",
          "tool_call_started", "tool_call_delta", "tool_call_completed",
          "tool_execution_started", "tool_execution_completed",
          "tool_result_encoded", "ask_user_requested", "tool_halt",
          "message_completed", "step_completed", "chat_completed", "raw_chunk",
          "error", "reasoning_delta", "reasoning_completed", "usage",
          "session_changed");

const char *allm_event_tag(allm_event_type type)
{
    return (size_t)type < type_words.count ? type_words.word[type] : NULL;
}

allm_event_type allm_event_type_of(const char *tag)
{
    for (size_t i = 1; tag && i < type_words.count; i++)
        if (!strcmp(tag, type_words.word[i]))
            return (allm_event_type)i;
    return ALLM_EV_NONE;
}

/* --------------------------------------------------------------- rows --- */

#define N SHAPE_NEEDED
#define S SHAPE_SPARE

/* Struct member m under the name that it has in this event. */
#define TEXT(as, m, fl) \
    { NAMED(as), .kind = SHAPE_TEXT, .at = offsetof(allm_event, m), \
      .flags = (fl) }
#define BYTES(as, fl) \
    { NAMED(as), .kind = SHAPE_BYTES, .at = offsetof(allm_event, text), \
      .length_at = offsetof(allm_event, text_len), .flags = (fl) }
#define HEAD \
    FIELD_ENUM(event, type, type_words, N), \
    FIELD(event, seq, SHAPE_COUNT), \
    FIELD_FLAGS(event, cursor, SHAPE_TEXT, S)
#define ROWS static const struct shape_field

ROWS none_rows[] = { HEAD, FIELD_END };

ROWS message_started_rows[] = { HEAD, FIELD_ONE(event, message, message_shape,
                                                N), FIELD_END };
ROWS text_delta_rows[] = { HEAD, TEXT("id", id, 0), BYTES("delta", N),
                           FIELD_END };
ROWS text_completed_rows[] = { HEAD, TEXT("id", id, 0), BYTES("text", N),
                               FIELD_END };
ROWS tool_call_started_rows[] = { HEAD, TEXT("id", id, N),
                                  TEXT("name", name, N), FIELD_END };
ROWS tool_call_delta_rows[] = { HEAD, TEXT("id", id, N),
                                BYTES("arguments_delta", N), FIELD_END };
ROWS tool_call_completed_rows[] = {
    HEAD,
    TEXT("id", id, N),
    TEXT("name", name, N),
    FIELD_FLAGS(event, arguments, SHAPE_MAP, N),
    FIELD_BYTES(event, raw_arguments, raw_len, N),
    FIELD_FLAGS(event, metadata, SHAPE_MAP, S),
    FIELD_FLAGS(event, provider_state, SHAPE_ANY, S),
    FIELD_END,
};
ROWS tool_execution_started_rows[] = {
    HEAD, TEXT("id", id, N), TEXT("name", name, N),
    FIELD_FLAGS(event, arguments, SHAPE_MAP, N), FIELD_END,
};
ROWS tool_execution_completed_rows[] = {
    HEAD, TEXT("id", id, N), TEXT("name", name, N),
    FIELD(event, result, SHAPE_ANY), FIELD_END,
};
ROWS tool_result_encoded_rows[] = { HEAD, TEXT("id", id, N),
                                    BYTES("content", N), FIELD_END };
ROWS ask_user_requested_rows[] = {
    HEAD, TEXT("tool_call_id", id, N), TEXT("tool_name", name, N),
    BYTES("question", N), FIELD(event, opts, SHAPE_MAP), FIELD_END,
};
ROWS tool_halt_rows[] = {
    HEAD, TEXT("tool_call_id", id, N), TEXT("reason", reason, N),
    FIELD(event, result, SHAPE_ANY), BYTES("content", S),
    FIELD_ONE(event, error, error_shape, S), FIELD_END,
};
ROWS message_completed_rows[] = {
    HEAD, FIELD_ONE(event, message, message_shape, N),
    FIELD_ENUM(event, finish_reason, response_finish_words, 0),
    FIELD_FLAGS(event, metadata, SHAPE_MAP, S), FIELD_END,
};
ROWS step_completed_rows[] = {
    HEAD,
    FIELD_ONE(event, response, response_shape, N),
    { NAMED("thread"), .kind = SHAPE_THREAD, .own = &thread_own,
      .at = offsetof(allm_event, thread), .flags = N },
    FIELD_ENUM(event, mode, mode_words, 0),
    FIELD_MANY(event, manual_tool_calls, manual_tool_call_count,
               tool_call_shape, 0),
    FIELD_FLAGS(event, metadata, SHAPE_MAP, S),
    FIELD_END,
};
ROWS chat_completed_rows[] = {
    HEAD,
    { NAMED("result"), .kind = SHAPE_ONE, .of = &chat_result_shape,
      .at = offsetof(allm_event, chat_result), .flags = N },
    FIELD_END,
};
ROWS raw_chunk_rows[] = { HEAD, FIELD(event, chunk, SHAPE_ANY), FIELD_END };
ROWS error_rows[] = { HEAD, FIELD_ONE(event, error, error_shape, N),
                      FIELD_END };
ROWS reasoning_delta_rows[] = { HEAD, TEXT("id", id, 0), BYTES("delta", N),
                                FIELD_END };
ROWS reasoning_completed_rows[] = {
    HEAD, TEXT("id", id, 0), BYTES("text", N),
    FIELD(event, provider_state, SHAPE_ANY), FIELD_END,
};
ROWS session_changed_rows[] = {
    HEAD, FIELD(event, record, SHAPE_COUNT), FIELD(event, keep, SHAPE_COUNT),
    FIELD_MANY(event, messages, message_count, message_shape, 0),
    TEXT("status", status, 0), FIELD_END,
};
/* The fields of the usage are next to type and seq: see `flat` below. */
ROWS usage_rows[] = {
    HEAD, FIELD_ONE(event, usage, usage_shape, N | SHAPE_HIDDEN), FIELD_END,
};

/* An unknown type becomes the type NONE. */
static const allm_error *settle_none(struct allm_home *home, void *value)
{
    (void)home;
    ((allm_event *)value)->type = ALLM_EV_NONE;
    return NULL;
}

/* An object without the event's own members. */
static const allm_json *without_head(struct arena *a, const allm_json *kept)
{
    static const char *const names[] = { "type", "seq", "cursor" };
    for (size_t i = 0; kept && i < sizeof names / sizeof *names; i++)
        kept = json_set(a, kept, slice_of(names[i]), NULL);
    return kept;
}

/* All members but the event's own belong to the usage. */
static const allm_error *settle_usage(struct allm_home *home, void *value)
{
    allm_event *event = value;
    struct arena *a = home_arena(home);
    event->kept = NULL;
    if (!event->usage || !event->usage->kept)
        return NULL;
    allm_usage *usage = arena_alloc(a, sizeof *usage);
    if (!usage)
        return status_nomem();
    *usage = *event->usage;
    usage->kept = without_head(a, usage->kept);
    event->usage = usage;
    return usage->kept ? NULL : status_nomem();
}

#define KIND_SETTLED(name, settle_) \
    { .tag = #name, .noun = "event", .size = sizeof(allm_event), \
      .kept = offsetof(allm_event, kept), .fields = name##_rows, \
      .settle = (settle_) }
#define KIND(name) KIND_SETTLED(name, NULL)

/* Indexed by allm_event_type. */
static const struct shape kinds[] = {
    KIND_SETTLED(none, settle_none),
    KIND(message_started),
    KIND(text_delta),
    KIND(text_completed),
    KIND(tool_call_started),
    KIND(tool_call_delta),
    KIND(tool_call_completed),
    KIND(tool_execution_started),
    KIND(tool_execution_completed),
    KIND(tool_result_encoded),
    KIND(ask_user_requested),
    KIND(tool_halt),
    KIND(message_completed),
    KIND(step_completed),
    KIND(chat_completed),
    KIND(raw_chunk),
    KIND(error),
    KIND(reasoning_delta),
    KIND(reasoning_completed),
    KIND_SETTLED(usage, settle_usage),
    KIND(session_changed),
};

static const struct shape *pick_kind(const void *value)
{
    size_t type = (size_t)((const allm_event *)value)->type;
    return type < sizeof kinds / sizeof *kinds ? &kinds[type] : &kinds[0];
}

const struct shape event_shape = {
    SHAPE_OF(event, "event"),
    .fields = none_rows,
    .pick = pick_kind,
};

/* ---------------------------------------------------------- JSON form --- */

void event_write(struct encoder *e, const allm_event *event)
{
    emit_open(&e->emit, '{');
    encode_members(e, pick_kind(event), event);
    if (event->type == ALLM_EV_USAGE && event->usage)
        encode_members(e, &usage_shape, event->usage);
    emit_close(&e->emit, '}');
}

/* A usage event: every member but the event's own belongs to the usage. */
static bool read_usage(struct decoder *d, const allm_json *v, allm_event *event)
{
    const allm_json *rest = without_head(d->arena, v);
    allm_usage *usage = shape_make(d->arena, &usage_shape);
    if (!usage || !rest)
        return decode_nomem(d);
    event->usage = usage;
    return decode_members(d, &usage_shape, rest, usage);
}

const allm_event *event_read(struct decoder *d, const allm_json *v)
{
    const allm_json *type = json_get(v, SLICE("type"));
    const struct shape *kind = &kinds[0];
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        if (json_is(type, kinds[i].tag))
            kind = &kinds[i];
    if (kind == kinds)
        return NULL;
    allm_event *event = shape_make(d->arena, kind);
    if (!event) {
        decode_nomem(d);
        return NULL;
    }
    bool ok = decode_members(d, kind, v, event) &&
              (event->type != ALLM_EV_USAGE || read_usage(d, v, event));
    return ok ? event : NULL;
}

/* ------------------------------------------------------------- public --- */

allm_event *allm_event_new(const allm_event *given)
{
    return shape_new(&event_shape, given);
}

void allm_event_free(allm_event *event)
{
    shape_free(event);
}

const allm_error *allm_event_error(const allm_event *event)
{
    return shape_error(event);
}

allm_text *allm_event_json(const allm_event *event)
{
    struct encoder e;
    if (!event || !encode_begin(&e, mem_default(), ALLM_FORM_PLAIN))
        return NULL;
    allm_event *mine = shape_keep(&event_shape, event, mem_default(), e.arena,
                                  &e.error);
    if (mine && mine->type == ALLM_EV_NONE)
        e.error = status_error(e.arena, ALLM_ERR_MISUSE, "missing_field",
                               "allm_event_json: the event has no type");
    else if (mine)
        event_write(&e, mine);
    allm_event_free(mine);
    return encode_finish(&e);
}

/* Fill an empty root from the text.  Returns the error, or NULL. */
static const allm_error *read_text(allm_event *root, struct slice text)
{
    struct decoder d;
    struct json_limits limits;
    struct allm_home *home = root->home;
    struct arena scratch = arena_in(home_mem(home));
    decode_init(&d, home, home_arena(home));
    json_limits_from(&limits, NULL);
    limits.max_depth += DECODE_ENVELOPES;
    const allm_error *error = NULL;
    const allm_json *v = json_parse(&scratch, text, limits, &error);
    const allm_event *read = v ? event_read(&d, v) : NULL;
    if (!v)
        d.error = error_copy(home, error);
    else if (!read && !d.error)
        decode_refuse_at(&d, "type", "unknown_event");
    arena_release(&scratch);
    if (read) {
        *root = *read;
        root->home = home;
    }
    return d.error;
}

allm_event *allm_event_parse(const char *json, size_t len)
{
    allm_event *event = shape_root(mem_default(), &event_shape, 512);
    if (!event)
        return NULL;
    const allm_error *error =
        json ? read_text(event, slice_given(json, len))
             : status_error(home_arena(event->home), ALLM_ERR_MISUSE,
                            "missing_text",
                            "allm_event_parse: the text is "
                            "NULL");
    if (error && error->kind == ALLM_ERR_NOMEM) {
        allm_event_free(event);
        return NULL;
    }
    if (error)
        home_set_error(event->home, error);
    return event;
}
