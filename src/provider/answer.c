/* answer.c - the response of a model while it arrives */
#include "provider/answer.h"

#include "base/status.h"
#include "data/usage.h"
#include "provider/extra.h"
#include "provider/finish.h"
#include "provider/model_rules.h"
#include "provider/redact.h"
#include "json/build.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

/* A member of the metadata, or an element of a list in it. */
struct answer_note {
    struct answer_note *next;
    const char *key;            /* a literal */
    const allm_json *value;
    bool written;
};

static const allm_message empty_message = {
    .size = sizeof(allm_message),
    .role = ALLM_ROLE_ASSISTANT,
    .text = "",
};

static void no_memory(struct answer *a)
{
    a->sink->status = ALLM_ERR_NOMEM;
}

/* Warn if the request's temperature is not sent to this model; see extra.h. */
static void warn_if_sampling_ignored(struct answer *a)
{
    struct extra x;
    if (!a->call->request || !a->call->request->temperature.set)
        return;
    const allm_error *error = extra_init(&x, a->call, a->sink->arena);
    if (error && error->kind == ALLM_ERR_NOMEM)
        no_memory(a);
    else if (!error &&
             extra_refuses_temperature(&x, model_rules(a->call->model)))
        answer_warn(a, "sampling_ignored");
}

bool answer_open(struct answer *a, const allm_call *call, allm_sink *sink)
{
    a->call = call;
    a->sink = sink;
    if (a->opened)
        return !a->over;
    a->opened = true;
    a->life = sink->life ? sink->life : sink->arena;
    a->usage.size = sizeof a->usage;
    buf_init(&a->text, a->life, SIZE_MAX / 2);
    buf_init(&a->thought, a->life, SIZE_MAX / 2);
    buf_init(&a->refusal, a->life, SIZE_MAX / 2);
    buf_init(&a->extra, a->life, SIZE_MAX / 2);
    buf_init(&a->tool_usage, a->life, SIZE_MAX / 2);
    calls_init(&a->calls, a->life, call);
    warn_if_sampling_ignored(a);
    return true;
}

void answer_start(struct answer *a)
{
    if (a->started)
        return;
    allm_event *event = sink_add(a->sink, ALLM_EV_MESSAGE_STARTED);
    if (event)
        event->message = &empty_message;
    a->started = true;
}

/* -------------------------------------------------------------- texts --- */

static void put_text(struct answer *a, allm_event_type type, struct slice text)
{
    allm_event *event = sink_add(a->sink, type);
    if (!event)
        return;
    event->text = text.ptr;
    event->text_len = text.len;
}

/* Add a piece to a text, and emit it, as valid UTF-8, if `delta` is a type of
 * event.  False: it is empty. */
static inline bool add_piece(struct answer *a, struct buf *text,
                             struct utf8_pieces *pieces, struct slice piece,
                             allm_event_type delta)
{
    if (!piece.len)
        return false;
    answer_start(a);
    struct slice valid = utf8_pieces_take(pieces, a->sink->arena, piece);
    buf_add(text, valid);
    if (!valid.ptr || text->broken)
        no_memory(a);
    else if (valid.len && delta)
        put_text(a, delta, valid);
    return true;
}

void answer_raw(struct answer *a, const allm_json *chunk)
{
    answer_start(a);            /* message_started is always first */
    allm_event *event = sink_add(a->sink, ALLM_EV_RAW_CHUNK);
    if (event)
        event->chunk = chunk;
}

void answer_text(struct answer *a, struct slice piece)
{
    if (add_piece(a, &a->text, &a->text_pieces, piece, ALLM_EV_TEXT_DELTA))
        a->has_text = true;
}

void answer_refusal(struct answer *a, struct slice piece)
{
    add_piece(a, &a->refusal, &a->refusal_pieces, piece, ALLM_EV_NONE);
}

void answer_thought(struct answer *a, struct slice piece)
{
    if (add_piece(a, &a->thought, &a->thought_pieces, piece,
                  ALLM_EV_REASONING_DELTA))
        a->has_reasoning = true;
}

static void add_tagged(struct answer *a, const struct think_piece *piece)
{
    if (piece->thought)
        answer_thought(a, piece->text);
    else
        answer_text(a, piece->text);
}

void answer_tagged(struct answer *a, struct think *t, struct slice piece)
{
    struct think_piece part;
    while (think_next(t, &piece, &part))
        add_tagged(a, &part);
}

void answer_tagged_end(struct answer *a, struct think *t)
{
    struct think_piece rest;
    if (think_end(t, &rest))
        add_tagged(a, &rest);
}

/* Emit the bytes that a text still holds back. */
static void text_flush(struct answer *a, struct buf *text,
                       struct utf8_pieces *pieces, allm_event_type delta)
{
    struct slice left = utf8_pieces_end(pieces);
    if (!left.len)
        return;
    buf_add(text, left);
    if (delta)
        put_text(a, delta, left);
    if (text->broken)
        no_memory(a);
}

void answer_thought_end(struct answer *a, const allm_json *state)
{
    text_flush(a, &a->thought, &a->thought_pieces, ALLM_EV_REASONING_DELTA);
    if (!a->thought.len && !state)
        return;
    answer_start(a);
    allm_event *event = sink_add(a->sink, ALLM_EV_REASONING_COMPLETED);
    char *text = arena_copy(a->sink->arena, buf_slice(&a->thought));
    if (!event || !text) {
        no_memory(a);
        return;
    }
    event->text = text;
    event->text_len = a->thought.len;
    event->provider_state = state;
    a->has_reasoning = true;
    buf_clear(&a->thought);
}

struct calls_slot *answer_call(struct answer *a,
                               const struct calls_piece *piece)
{
    answer_start(a);
    return calls_add(&a->calls, a->sink, piece);
}

/* -------------------------------------------------------------- facts --- */

static const char *text_keep(struct answer *a, struct slice text)
{
    const char *mine = utf8_copy(a->life, text).ptr;
    if (!mine && text.ptr)
        no_memory(a);
    return mine;
}

void answer_id(struct answer *a, struct slice id)
{
    if (!a->id && id.len)
        a->id = text_keep(a, id);
}

void answer_model(struct answer *a, struct slice model)
{
    if (!a->model && model.len)
        a->model = text_keep(a, model);
}

bool answer_keep(struct buf *text, const allm_json *value)
{
    buf_clear(text);
    return json_write(text, value, 0);
}

const allm_json *answer_kept(struct arena *a, const struct buf *text)
{
    return text->len ? json_parse_loose(a, buf_slice(text), NULL) : NULL;
}

static void add_extra(struct answer *a, const allm_json *more)
{
    struct arena *events = a->sink->arena;
    const allm_json *known = answer_kept(events, &a->extra);
    const allm_json *all = known ? json_merge(events, known, more) : more;
    if (!all || (a->extra.len && !known) || !answer_keep(&a->extra, all))
        no_memory(a);
}

void answer_usage(struct answer *a, const allm_usage *u)
{
    bool known = usage_lay(&a->usage, u);
    if (u->tool_usage && !answer_keep(&a->tool_usage, u->tool_usage))
        no_memory(a);
    if (u->extra)
        add_extra(a, u->extra);
    a->has_usage = a->has_usage || known;
}

void answer_finish(struct answer *a, allm_finish finish, struct slice word)
{
    a->finish = finish;
    if (!a->raw_finish || !slice_is(word, a->raw_finish))
        a->raw_finish = text_keep(a, word);
}

/* ----------------------------------------------------------- metadata --- */

static struct answer_note *make_note(struct answer *a, const char *key,
                                     const allm_json *value)
{
    struct answer_note *n = arena_zero(a->life, sizeof *n);
    const allm_json *mine = json_copy(a->life, value);
    if (!n || !mine) {
        no_memory(a);
        return NULL;
    }
    n->key = key;
    n->value = mine;
    return n;
}

/* Most notes are strings that every frame repeats. */
static bool is_same_value(const allm_json *old, const allm_json *value)
{
    struct slice text = json_slice(old);
    return text.ptr ? slice_eq(text, json_slice(value)) && json_slice(value).ptr
                    : allm_json_equal(old, value);
}

void answer_note(struct answer *a, const char *key, const allm_json *value)
{
    struct answer_note *n = a->notes;
    while (n && n->key != key && strcmp(n->key, key) != 0)
        n = n->next;
    if (!value || (n && is_same_value(n->value, value)))
        return;
    struct answer_note *fresh = make_note(a, key, value);
    if (!fresh)
        return;
    if (n) {
        n->value = fresh->value;
        return;
    }
    fresh->next = a->notes;
    a->notes = fresh;
}

void answer_gather_one(struct answer *a, const char *key,
                       const allm_json *value)
{
    struct answer_note *n = make_note(a, key, value);
    if (!n)
        return;
    if (a->last_element)
        a->last_element->next = n;
    else
        a->elements = n;
    a->last_element = n;
}

void answer_gather(struct answer *a, const char *key, const allm_json *list)
{
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        answer_gather_one(a, key, v);
}

const allm_json *answer_build(struct answer *a, struct build *b)
{
    const allm_json *v = build_done(b);
    if (!v)
        no_memory(a);
    return v;
}

void answer_warn(struct answer *a, const char *name)
{
    struct build b = build_in(a->sink->arena);
    build_text(&b, slice_of(name));
    const allm_json *warning = answer_build(a, &b);
    if (warning)
        answer_gather_one(a, "warnings", warning);
}

/* Write a list: this element and all others with its key. */
static void write_list(struct build *b, struct answer_note *first)
{
    build_array_at(b, first->key);
    for (struct answer_note *n = first; n; n = n->next) {
        if (strcmp(n->key, first->key) != 0)
            continue;
        build_value(b, n->value);
        n->written = true;
    }
    build_end(b);
}

static void write_notes(struct build *b, struct answer *a)
{
    for (struct answer_note *n = a->notes; n; n = n->next)
        build_value_at(b, n->key, n->value);
    for (struct answer_note *n = a->elements; n; n = n->next)
        if (!n->written)
            write_list(b, n);
}

static const allm_json *metadata_build(struct answer *a)
{
    struct build b = build_object_in(a->sink->arena);
    build_text_if(&b, "raw_finish_reason", a->raw_finish);
    build_text_if(&b, "response_id", a->id);
    build_text_if(&b, "response_model", a->model);
    if (a->refusal.len)
        build_text_at(&b, "refusal", buf_slice(&a->refusal));
    write_notes(&b, a);
    build_end(&b);
    const allm_json *all = answer_build(a, &b);
    return allm_json_count(all) ? all : NULL;
}

/* -------------------------------------------------------------- state --- */

const allm_json *answer_stamp(struct answer *a, const allm_json *fields)
{
    if (!fields)
        return NULL;
    struct build b = build_object_in(a->sink->arena);
    build_text_at(&b, "provider",
                  slice_of(a->call->provider ? a->call->provider : ""));
    build_text_at(&b, "model", slice_of(a->call->model ? a->call->model : ""));
    for (const allm_json *k = NULL; (k = allm_json_next(fields, k));)
        build_entry(&b, k);
    const allm_json *mine = json_copy(a->life, build_finish(&b));
    if (!mine)
        no_memory(a);
    return mine;
}

void answer_state(struct answer *a, const allm_json *fields)
{
    a->state = answer_stamp(a, fields);
}

/* ------------------------------------------------------------ closing --- */

bool answer_is_empty(const struct answer *a)
{
    return !a->has_text && !a->has_reasoning && !a->refusal.len &&
           !a->calls.first;
}

void answer_settle(struct answer *a)
{
    if (a->finish != ALLM_FINISH_NONE)
        return;
    answer_finish(a,
                  a->calls.first ? ALLM_FINISH_TOOL_CALLS : ALLM_FINISH_OTHER,
                  SLICE(""));
    answer_warn(a, "finish_reason_missing");
}

static void put_usage(struct answer *a)
{
    if (!a->has_usage)
        return;
    allm_event *event = sink_add(a->sink, ALLM_EV_USAGE);
    if (event)
        event->usage = &a->usage;
    a->usage.extra = answer_kept(a->sink->arena, &a->extra);
    a->usage.tool_usage = answer_kept(a->sink->arena, &a->tool_usage);
    if (a->sink->arena->broken)
        no_memory(a);
}

static void put_message(struct answer *a, const allm_tool_call *const *calls)
{
    allm_message *m = allm_sink_alloc(a->sink, sizeof *m);
    if (!m)
        return;
    struct slice text = buf_slice(&a->text);
    *m = empty_message;
    m->text = text.ptr;
    m->text_len = text.len;
    m->tool_calls = a->calls.count ? calls : NULL;
    m->tool_call_count = a->calls.count;
    m->provider_state = a->state;
    allm_event *event = sink_add(a->sink, ALLM_EV_MESSAGE_COMPLETED);
    if (!event)
        return;
    event->message = m;
    event->finish_reason = finish_settle(a->finish, a->calls.count,
                                         a->incomplete || calls_cut(&a->calls));
    event->metadata = metadata_build(a);
}

static allm_status end_answer(struct answer *a)
{
    a->over = true;
    allm_sink_end(a->sink);
    return a->sink->status < 0 ? a->sink->status : ALLM_OK;
}

allm_status answer_close(struct answer *a)
{
    answer_start(a);
    text_flush(a, &a->text, &a->text_pieces, ALLM_EV_TEXT_DELTA);
    text_flush(a, &a->refusal, &a->refusal_pieces, ALLM_EV_NONE);
    calls_flush(&a->calls, a->sink);
    answer_thought_end(a, NULL);
    if (a->sink->failure)       /* too many calls: the message is incomplete */
        return end_answer(a);
    if (a->text.len)
        put_text(a, ALLM_EV_TEXT_COMPLETED, buf_slice(&a->text));
    const allm_tool_call *const *calls = calls_end(&a->calls, a->sink);
    put_usage(a);
    put_message(a, calls);
    return end_answer(a);
}

/* ----------------------------------------------------------- failures --- */

allm_status answer_fail(struct answer *a, const allm_error *error)
{
    allm_error e = *error;
    if (!e.provider)
        e.provider = a->call->provider;
    const allm_error *safe = redact_error(a->sink->arena, &e,
                                          (struct slice){ NULL, 0 });
    if (safe->kind == ALLM_ERR_NOMEM)
        no_memory(a);
    put_usage(a);
    allm_sink_put(a->sink, ALLM(event, .type = ALLM_EV_ERROR, .error = safe));
    return end_answer(a);
}

allm_status answer_fail_as(struct answer *a, const allm_json *document,
                           explain_reader *read)
{
    allm_error e = read(a->sink->arena, document, 0);
    return answer_fail(a, &e);
}

allm_status answer_malformed(struct answer *a, const char *message)
{
    allm_error e = STATUS_ERROR(ALLM_ERR_ADAPTER, "malformed_response",
                                message);
    return answer_fail(a, &e);
}

allm_status answer_truncated(struct answer *a, const char *message)
{
    allm_error e = STATUS_ERROR(ALLM_ERR_STREAM, "truncated", message);
    return answer_fail(a, &e);
}

allm_status answer_ended_early(struct answer *a, const char *message)
{
    return answer_truncated(a, answer_is_empty(a)
                                   ? "the response ended before any content "
                                     "arrived"
                                   : message);
}

const allm_json *answer_part(struct answer *a, struct slice body)
{
    struct json_limits limits;
    const allm_error *error = NULL;
    bool ended = false;
    json_limits_from(&limits, NULL);
    limits.loose = true;
    const allm_json *part = json_partial(a->sink->arena, body, limits, &ended,
                                         &error);
    if (error && error->kind == ALLM_ERR_NOMEM)
        no_memory(a);
    return error || ended ? NULL : part ? part : json_null();
}

allm_status answer_not_json(struct answer *a, struct slice body)
{
    const allm_json *part = answer_part(a, body);
    if (a->sink->status < 0)
        return a->sink->status;
    return part ? answer_truncated(a, "the response ended in the middle of "
                                      "its JSON document")
                : answer_malformed(a, "the response is not a JSON object; "
                                      "check base_url");
}

const allm_json *answer_error_text(const struct answer *a, struct slice data,
                                   const allm_json *v)
{
    if (json_is_type(v, ALLM_JSON_OBJECT) || json_is_type(v, ALLM_JSON_ARRAY))
        return v;
    struct build b = build_object_in(a->sink->arena);
    build_key(&b, SLICE("error"));
    if (json_is_type(v, ALLM_JSON_TEXT))
        build_value(&b, v);
    else
        build_text_copy(&b, data);
    return build_finish(&b);
}
