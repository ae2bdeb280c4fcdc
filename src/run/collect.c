/*
 * collect.c - fold events into a response, a step result or a chat result
 *
 * The fold accepts every event; one without useful content changes nothing.
 * step_completed ends a step: the state of the step is reset, while usage,
 * error and metadata continue.
 *
 * Tool results have the order of the calls, not the order of completion.  All
 * tool messages are stored.  If several calls halt, the call that comes first
 * in the answer wins.
 */
#include "run/collect.h"

#include "base/status.h"
#include "data/chat_result.h"
#include "data/decode.h"
#include "data/error.h"
#include "data/message.h"
#include "data/metadata.h"
#include "data/response.h"
#include "data/step_result.h"
#include "data/thread.h"
#include "data/tool_call.h"
#include "data/usage.h"
#include "run/collect_call.h"
#include "tool/encoder.h"
#include "tool/result.h"
#include "json/build.h"
#include "json/json.h"

#include <stdint.h>

struct collect_result {
    struct collect_result *next;
    const struct tool_result *result;
    size_t index;               /* of the call, in the model's order */
};

static void drop_pieces(struct collect *c)
{
    for (struct collect_call *k = c->calls; k; k = k->next)
        arena_release(&k->pieces);
}

static void reset_step(struct collect *c)
{
    drop_pieces(c);
    arena_release(&c->text_arena);
    buf_init(&c->text, &c->text_arena, SIZE_MAX / 2);
    buf_init(&c->reasoning, &c->text_arena, SIZE_MAX / 2);
    c->reasoning_done = 0;
    c->calls = NULL;
    c->last_call = &c->calls;
    c->call_count = 0;
    c->results = NULL;
    c->last_result = &c->results;
    c->result_count = 0;
    c->highest_index = 0;
    c->halt = NULL;
    c->borrows = false;
    c->finish_reason = ALLM_FINISH_NONE;
    c->raw_finish_reason = NULL;
    c->last_message = NULL;
}

bool collect_init(struct collect *c, struct allm_home *home,
                  const allm_thread *thread)
{
    *c = (struct collect){ .home = home_keep(home) };
    arena_init(&c->text_arena, home_mem(home));
    c->last_step = &c->steps;
    reset_step(c);
    return !thread || !thread_own.share(c->home, thread, &c->thread);
}

void collect_release(struct collect *c)
{
    collect_drop_texts(c);
    home_drop(c->home);
    c->home = NULL;
}

size_t collect_held(const struct collect *c)
{
    size_t n = arena_held(&c->text_arena);
    for (const struct collect_call *k = c->calls; k; k = k->next)
        n += arena_held(&k->pieces);
    return n;
}

void collect_drop_texts(struct collect *c)
{
    drop_pieces(c);
    arena_release(&c->text_arena);
}

static allm_status collect_nomem(struct collect *c)
{
    c->broken = true;
    return ALLM_ERR_NOMEM;
}

static allm_status check_memory(struct collect *c)
{
    return c->broken || home_arena(c->home)->broken || c->text.broken ||
                   c->reasoning.broken
               ? collect_nomem(c)
               : ALLM_OK;
}

static const char *copy_text(struct collect *c, const char *text)
{
    return arena_text(home_arena(c->home), text);
}

static const allm_json *copy_json(struct collect *c, const allm_json *v)
{
    return json_copy(home_arena(c->home), v);
}

static const void *copy_value(struct collect *c, const struct shape *s,
                              const void *value)
{
    const void *mine = value ? shape_copy(c->home, s, value, NULL) : NULL;
    if (value && !mine)
        c->broken = true;
    return mine;
}

/* ---------------------------------------------------------- tool calls --- */

static struct collect_call *find_call(struct collect *c, const char *id)
{
    struct collect_call *one = c->calls;
    while (one && strcmp(one->call.id, id) != 0)
        one = one->next;
    return one;
}

/* The position of a call in the model's order; unknown calls come last. */
static size_t call_index(const struct collect *c, const char *id)
{
    size_t n = 0;
    for (const struct collect_call *k = c->calls; k; k = k->next, n++)
        if (!strcmp(k->call.id, id))
            return n;
    return SIZE_MAX;
}

static struct collect_call *open_call(struct collect *c, const char *id,
                                      const char *name)
{
    struct collect_call *one = find_call(c, id);
    if (one)
        return one;
    one = arena_zero(home_arena(c->home), sizeof *one);
    if (!one)
        return NULL;
    one->call = (allm_tool_call){ .size = sizeof one->call,
                                  .id = copy_text(c, id),
                                  .name = copy_text(c, name),
                                  .arguments = json_empty_object() };
    if (!one->call.id || !one->call.name)
        return NULL;
    collect_call_init(one, home_mem(c->home));
    *c->last_call = one;
    c->last_call = &one->next;
    c->call_count++;
    return one;
}

static allm_status on_call_started(struct collect *c, const allm_event *e)
{
    if (!e->id || !e->name)
        return ALLM_OK;
    return open_call(c, e->id, e->name) ? ALLM_OK : collect_nomem(c);
}

static allm_status on_call_delta(struct collect *c, const allm_event *e)
{
    if (!e->id || !e->text)
        return ALLM_OK;
    struct collect_call *one = open_call(c, e->id, "");
    if (!one)
        return collect_nomem(c);
    if (one->completed)         /* a late delta extends the text */
        buf_add(&one->raw,
                (struct slice){ one->call.raw_arguments,
                                           one->call.raw_len });
    one->completed = false;
    buf_add(&one->raw, (struct slice){ e->text, e->text_len });
    return one->raw.broken ? collect_nomem(c) : ALLM_OK;
}

static allm_status complete_call(struct collect *c, const allm_event *e,
                                 bool lasting)
{
    if (!e->id || !e->name ||
        allm_json_type_of(e->arguments) != ALLM_JSON_OBJECT)
        return ALLM_OK;
    struct collect_call *one = open_call(c, e->id, e->name);
    if (!one)
        return collect_nomem(c);
    allm_tool_call *call = &one->call;
    call->name = copy_text(c, e->name);
    if (lasting && collect_call_borrow(one, e)) {
        c->borrows = true;
    } else {
        call->arguments = copy_json(c, e->arguments);
        collect_call_complete(one, home_arena(c->home),
                              (struct slice){ e->raw_arguments,
                            e->raw_arguments ? e->raw_len : 0 });
    }
    call->metadata = copy_json(c, e->metadata);
    call->provider_state = copy_json(c, e->provider_state);
    return check_memory(c);
}

static allm_status on_call_completed(struct collect *c, const allm_event *e)
{
    return complete_call(c, e, false);
}

allm_status collect_borrow(struct collect *c, const allm_event *event)
{
    return complete_call(c, event, true);
}

/* Are the calls of a message those that came as events? */
bool collect_has_same_calls(const struct collect *c, const allm_message *m)
{
    size_t n = 0;
    if (m->size < sizeof *m || m->tool_call_count != c->call_count)
        return false;
    for (const struct collect_call *k = c->calls; k; k = k->next)
        if (!collect_call_is(k, m->tool_calls[n++]))
            return false;
    return n > 0;
}

/* -------------------------------------------------------- tool results --- */

/* Insert the result after those of earlier calls. */
static void insert_result(struct collect *c, struct collect_result *one)
{
    struct collect_result **at = c->last_result;
    if (c->result_count && c->highest_index > one->index)
        for (at = &c->results; (*at)->index <= one->index;)
            at = &(*at)->next;
    one->next = *at;
    *at = one;
    if (!one->next)
        c->last_result = &one->next;
    if (one->index > c->highest_index)
        c->highest_index = one->index;
    c->result_count++;
}

allm_status collect_result(struct collect *c, const struct tool_result *r)
{
    struct collect_result *one = arena_zero(home_arena(c->home), sizeof *one);
    if (!one)
        return collect_nomem(c);
    one->result = r;
    one->index = call_index(c, r->view.call->id);
    insert_result(c, one);
    if (r->halts &&
        (!c->halt || one->index < call_index(c, c->halt->view.call->id)))
        c->halt = r;
    return ALLM_OK;
}

/* The call that an event belongs to; a call that no event has started has only
 * its id. */
static const allm_tool_call *find_or_make_call(struct collect *c,
                                               const char *id)
{
    const struct collect_call *known = find_call(c, id);
    if (known)
        return &known->call;
    allm_tool_call *call = shape_make(home_arena(c->home), &tool_call_shape);
    if (call)
        call->id = copy_text(c, id);
    return call && call->id ? call : NULL;
}

/* Make a result from an event. */
static allm_status add_result(struct collect *c, const allm_event *e,
                              struct outcome outcome, struct slice content)
{
    struct allm_home *home = c->home;
    struct tool_result *r = arena_zero(home_arena(home), sizeof *r);
    if (!r)
        return collect_nomem(c);
    r->view.call = find_or_make_call(c, e->id);
    r->outcome = outcome_copy(home_arena(home), &outcome);
    r->error = e->error ? error_copy(home, e->error) : NULL;
    r->halts = outcome.kind != OUTCOME_NONE;
    if (!r->view.call || !result_close(r, content))
        return collect_nomem(c);
    bool held = home_hold(home, r->message->home);
    home_drop(r->message->home);
    allm_status status = held ? collect_result(c, r) : collect_nomem(c);
    return status < 0 ? status : check_memory(c);
}

static allm_status on_result(struct collect *c, const allm_event *e)
{
    if (!e->id || !e->text)
        return ALLM_OK;
    return add_result(c, e, (struct outcome){ .kind = OUTCOME_NONE },
                      (struct slice){ e->text, e->text_len });
}

/* The content of a halt that has no encoded text. */
static struct slice value_content(struct collect *c, const allm_json *value)
{
    struct buf text = buf_in(&c->text_arena, SIZE_MAX / 2);
    encoder_write(&text, value ? value : json_null());
    if (text.broken)
        c->broken = true;
    return buf_slice(&text);
}

static allm_status on_halt(struct collect *c, const allm_event *e)
{
    if (!e->id || !e->reason)
        return ALLM_OK;
    return add_result(c, e, outcome_from_halt(e->reason, e->result),
                      e->text ? (struct slice){ e->text, e->text_len }
                              : value_content(c, e->result));
}

static allm_status on_ask(struct collect *c, const allm_event *e)
{
    if (!e->id || !e->text)
        return ALLM_OK;
    return add_result(c, e, outcome_question(e->text, e->opts),
                      SLICE(OUTCOME_AWAITING));
}

/* -------------------------------------------------- messages and usage --- */

/* Move a string from the metadata to the field of the response that it is
 * for. */
static void lift_metadata(struct collect *c, const char *key, const char **to)
{
    const allm_json *v = allm_json_get(c->metadata, key);
    if (allm_json_type_of(v) != ALLM_JSON_TEXT)
        return;
    *to = copy_text(c, allm_json_text(v, NULL));
    c->metadata = json_set(home_arena(c->home), c->metadata, slice_of(key),
                           NULL);
}

/* The field of the response that a member of the metadata is for; or NULL. */
static const char **field_for(struct collect *c, const allm_json *key)
{
    return json_is(key, "raw_finish_reason") ? &c->raw_finish_reason
           : json_is(key, "response_id")     ? &c->id
           : json_is(key, "response_model")  ? &c->model
                                             : NULL;
}

/* The first metadata: what lift_metadata() does, in one pass. */
static void take_metadata(struct collect *c, const allm_json *given)
{
    struct build b = build_object_in(&c->text_arena);
    for (const allm_json *k = NULL; (k = allm_json_next(given, k));) {
        const allm_json *v = allm_json_value(k);
        const char **field = field_for(c, k);
        if (field && allm_json_type_of(v) == ALLM_JSON_TEXT) {
            *field = copy_text(c, allm_json_text(v, NULL));
            continue;
        }
        build_key(&b, json_slice(k));
        build_value(&b, v);
    }
    c->metadata = copy_json(c, build_finish(&b));
    c->broken = c->broken || !c->metadata;
}

/* A message that nobody shares is copied.  It then has no calls if the fold has
 * the same: the response adds them. */
static const allm_message *keep_message(struct collect *c,
                                        const allm_message *m)
{
    if (m->home || !collect_has_same_calls(c, m))
        return copy_value(c, &message_shape, m);
    allm_message bare = *m;
    bare.tool_calls = NULL;
    bare.tool_call_count = 0;
    return copy_value(c, &message_shape, &bare);
}

static allm_status on_message_completed(struct collect *c, const allm_event *e)
{
    if (!e->message)
        return ALLM_OK;
    c->last_message = keep_message(c, e->message);
    if (e->finish_reason != ALLM_FINISH_NONE)
        c->finish_reason = e->finish_reason;
    if (allm_json_count(e->metadata) && !c->metadata) {
        take_metadata(c, e->metadata);
    } else if (allm_json_count(e->metadata)) {
        struct arena *a = home_arena(c->home);
        const allm_json *more = copy_json(c, e->metadata);
        c->metadata = json_merge(
            a, c->metadata ? c->metadata : json_empty_object(), more);
        lift_metadata(c, "raw_finish_reason", &c->raw_finish_reason);
        lift_metadata(c, "response_id", &c->id);
        lift_metadata(c, "response_model", &c->model);
    }
    return check_memory(c);
}

allm_usage *collect_usage(struct collect *c)
{
    if (!c->usage)
        c->usage = shape_make(home_arena(c->home), &usage_shape);
    if (!c->usage)
        c->broken = true;
    return c->usage;
}

/* For each field, the last known value counts. */
static allm_status on_usage(struct collect *c, const allm_event *e)
{
    const allm_usage *u = e->usage;
    if (!u)
        return ALLM_OK;
    allm_usage *mine = collect_usage(c);
    if (!mine)
        return collect_nomem(c);
    usage_lay(mine, u);
    if (u->tool_usage)
        mine->tool_usage = copy_json(c, u->tool_usage);
    if (u->extra)
        mine->extra = copy_json(c, u->extra);
    return check_memory(c);
}

/* ["usage", {...}], a form that recorded streams may contain. */
static allm_status on_raw_chunk(struct collect *c, const allm_event *e)
{
    struct decoder d;
    const allm_json *map = allm_json_at(e->chunk, 1);
    if (allm_json_count(e->chunk) != 2 ||
        !json_is(allm_json_at(e->chunk, 0), "usage") ||
        allm_json_type_of(map) != ALLM_JSON_OBJECT)
        return ALLM_OK;
    decode_init(&d, c->home, home_arena(c->home));
    const allm_usage *u = decode_value(&d, &usage_shape, map);
    if (!u)
        return collect_nomem(c);
    if (u->kept)
        return ALLM_ERR_MISUSE; /* a bug in the adapter: no such field */
    allm_usage *mine = collect_usage(c);
    if (!mine)
        return collect_nomem(c);
    *mine = *u;
    return ALLM_OK;
}

/* An error event counts as an error, whatever form its error has. */
static allm_status on_error(struct collect *c, const allm_event *e)
{
    allm_error foreign = status_blank(ALLM_ERR_ADAPTER);
    foreign.reason = "unknown";
    foreign.cause = allm_json_get(e->kept, "error");
    if (!e->error && !foreign.cause)
        return ALLM_OK;
    c->error = error_copy(c->home, e->error ? e->error : &foreign);
    c->finish_reason = ALLM_FINISH_ERROR;
    return check_memory(c);
}

/* --------------------------------------------------------------- steps --- */

const allm_message **collect_result_list(const struct collect *c,
                                         struct arena *a)
{
    const allm_message **list =
        arena_zero(a, (c->result_count + 1) * sizeof *list);
    size_t n = 0;
    for (const struct collect_result *r = c->results; list && r; r = r->next)
        list[n++] = r->result->message;
    return list;
}

bool collect_is_step_done(const struct collect *c)
{
    return c->halt || c->finish_reason == ALLM_FINISH_STOP ||
           c->finish_reason == ALLM_FINISH_LENGTH ||
           c->finish_reason == ALLM_FINISH_CONTENT_FILTER ||
           c->finish_reason == ALLM_FINISH_ERROR;
}

/* The metadata of the step that this event completes. */
static const allm_json *step_metadata(struct collect *c, struct arena *a,
                                      const allm_event *e)
{
    struct build b = build_object_in(a);
    result_write_halt(&b, c->halt);
    if (e->mode == ALLM_MODE_MANUAL && e->response &&
        e->response->finish_reason == ALLM_FINISH_TOOL_CALLS)
        build_text_at(&b, "mode", SLICE("manual"));
    if (e->manual_tool_call_count) {
        build_key(&b, c->halt ? SLICE(METADATA_UNRESOLVED)
                              : SLICE(METADATA_MANUAL));
        build_value(&b, metadata_calls_json(a, e->manual_tool_call_count,
                                            e->manual_tool_calls));
    }
    if (e->metadata && allm_json_get(e->metadata, METADATA_APPROVALS)) {
        build_value_at(&b, METADATA_APPROVALS,
                       allm_json_get(e->metadata, METADATA_APPROVALS));
    }
    return build_finish(&b);
}

static allm_status on_step_completed(struct collect *c, const allm_event *e)
{
    struct arena *a = home_arena(c->home);
    struct collect_step *one = arena_zero(a, sizeof *one);
    allm_step_result fields = { .size = sizeof fields,
                                .thread = e->thread,
                                .response = e->response,
                                .done = collect_is_step_done(c),
                                .error = c->halt ? c->halt->error : NULL };
    fields.tool_results = collect_result_list(c, a);
    fields.tool_result_count = c->result_count;
    fields.metadata = step_metadata(c, a, e);
    if (!one || !fields.tool_results || !fields.metadata)
        return collect_nomem(c);
    one->step = copy_value(c, &step_result_shape, &fields);
    one->halt = c->halt;
    if (!one->step)
        return collect_nomem(c);
    *c->last_step = one;
    c->last_step = &one->next;
    c->step_count++;
    if (e->thread && thread_own.share(c->home, e->thread, &c->thread))
        return collect_nomem(c);
    reset_step(c);
    return check_memory(c);
}

static allm_status on_chat_completed(struct collect *c, const allm_event *e)
{
    if (!e->chat_result)
        return ALLM_OK;
    c->chat_result = copy_value(c, &chat_result_shape, e->chat_result);
    c->done = true;
    return check_memory(c);
}

/* ------------------------------------------------------------ the fold --- */

static allm_status on_text(struct buf *to, const allm_event *e)
{
    if (e->text)
        buf_add(to, (struct slice){ e->text, e->text_len });
    return to->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}

/* The complete text replaces the pieces. */
static allm_status on_text_completed(struct buf *to, const allm_event *e)
{
    if (e->text)
        buf_clear(to);
    return on_text(to, e);
}

/* One reasoning block is complete: its text replaces the pieces of that
 * block. */
static allm_status on_reasoning_completed(struct collect *c,
                                          const allm_event *e)
{
    if (!e->text)
        return ALLM_OK;
    if (c->reasoning_done <= c->reasoning.len)
        c->reasoning.len = c->reasoning_done;
    allm_status status = on_text(&c->reasoning, e);
    c->reasoning_done = c->reasoning.len;
    return status;
}

allm_status collect_add(struct collect *c, const allm_event *e)
{
    switch (e->type) {
    case ALLM_EV_TEXT_DELTA:          return on_text(&c->text, e);
    case ALLM_EV_TEXT_COMPLETED:      return on_text_completed(&c->text, e);
    case ALLM_EV_REASONING_DELTA:     return on_text(&c->reasoning, e);
    case ALLM_EV_REASONING_COMPLETED: return on_reasoning_completed(c, e);
    case ALLM_EV_TOOL_CALL_STARTED:   return on_call_started(c, e);
    case ALLM_EV_TOOL_CALL_DELTA:     return on_call_delta(c, e);
    case ALLM_EV_TOOL_CALL_COMPLETED: return on_call_completed(c, e);
    case ALLM_EV_MESSAGE_COMPLETED:   return on_message_completed(c, e);
    case ALLM_EV_USAGE:               return on_usage(c, e);
    case ALLM_EV_RAW_CHUNK:           return on_raw_chunk(c, e);
    case ALLM_EV_ERROR:               return on_error(c, e);
    case ALLM_EV_TOOL_RESULT_ENCODED: return on_result(c, e);
    case ALLM_EV_TOOL_HALT:           return on_halt(c, e);
    case ALLM_EV_ASK_USER_REQUESTED:  return on_ask(c, e);
    case ALLM_EV_STEP_COMPLETED:      return on_step_completed(c, e);
    case ALLM_EV_CHAT_COMPLETED:      return on_chat_completed(c, e);
    default:                          return ALLM_OK;
    }
}
