/*
 * context.c - the state of a turn, passed through its stages
 *
 *      response --parse--> calls --validate, budget--> calls that may run
 *               --dispatch--> results --inject--> messages --decide--> decision
 *
 * Everything is in the turn's arena, except for the messages, which are
 * reference-counted and shared with the thread to which they are appended.
 */
#include "turn/context.h"

#include "base/status.h"
#include "data/error.h"
#include "data/response.h"
#include "data/thread.h"
#include "json/build.h"
#include "json/json.h"

struct turn_fault {
    struct turn_fault *next;
    const char *what, *name;
    const allm_json *texts;
};

void context_init(allm_context *c, struct arena *arena)
{
    *c = (allm_context){ .arena = arena, .clock = clock_real() };
    c->last_fault = &c->faults;
    c->last_trace = &c->trace;
    c->last_event = &c->events;
    c->again_ns = INT64_MAX;
}

void context_release(allm_context *c)
{
    for (size_t i = 0; i < c->message_count; i++)
        home_drop(c->messages[i]->home);
    for (size_t i = 0; i < c->result_count; i++)
        home_drop(result_of_view(c->results[i])->message->home);
    c->message_count = c->result_count = 0;
}

/* Make room for one more pointer in a list; false: out of memory. */
static bool reserve_pointer(allm_context *c, void *list, size_t count,
                            size_t *room)
{
    bool good = arena_grow(c->arena, list, count, room, 8, sizeof(void *));
    c->broken = c->broken || !good;
    return good;
}

void context_push_message(allm_context *c, allm_message *m)
{
    if (!m || allm_message_error(m) ||
        !reserve_pointer(c, &c->messages, c->message_count, &c->message_room)) {
        c->broken = true;
        allm_message_free(m);
        return;
    }
    c->messages[c->message_count++] = m;
}

static struct turn_trace *new_trace(allm_context *c, const char *tag)
{
    struct turn_trace *t = arena_zero(c->arena, sizeof *t);
    if (!t) {
        c->broken = true;
        return NULL;
    }
    t->tag = tag;
    *c->last_trace = t;
    c->last_trace = &t->next;
    return t;
}

void context_note(allm_context *c, const char *tag)
{
    new_trace(c, tag);
}

void context_note_n(allm_context *c, const char *tag, int64_t n)
{
    struct turn_trace *t = new_trace(c, tag);
    if (t) {
        t->n = n;
        t->has_n = true;
    }
}

void context_note_text(allm_context *c, const char *tag, const char *text)
{
    struct turn_trace *t = new_trace(c, tag);
    if (t)
        t->text = arena_text(c->arena, text);
}

void context_fault(allm_context *c, const char *what, const char *name,
                   const allm_json *texts)
{
    struct turn_fault *f = arena_zero(c->arena, sizeof *f);
    if (!f) {
        c->broken = true;
        return;
    }
    *f = (struct turn_fault){ NULL, what, name, texts };
    *c->last_fault = f;
    c->last_fault = &f->next;
}

void context_decide(allm_context *c, allm_decision d, const char *reason)
{
    c->decision = d;
    c->reason = arena_text(c->arena, reason);
}

size_t context_index(const allm_context *c, const char *id)
{
    const allm_response *r = c->response;
    size_t n = r ? r->tool_call_count : 0;
    for (size_t i = 0; i < n; i++)
        if (r->tool_calls[i]->id && id && !strcmp(r->tool_calls[i]->id, id))
            return i;
    return n;
}

const allm_tool *context_tool(const allm_context *c, const char *name,
                              size_t *index)
{
    for (size_t i = c->tool_count; i-- > 0;) {  /* the last one wins */
        if (strcmp(c->tools[i]->name, name) != 0)
            continue;
        if (index)
            *index = i;
        return c->tools[i];
    }
    return NULL;
}

/* The index for the result of a call: results are in the order of calls. */
static size_t result_position(const allm_context *c, const allm_tool_call *call)
{
    size_t at = c->result_count, index = context_index(c, call->id);
    while (at && context_index(c, c->results[at - 1]->call->id) > index)
        at--;
    return at;
}

bool context_push_result(allm_context *c, const struct tool_result *r)
{
    if (!reserve_pointer(c, &c->results, c->result_count, &c->result_room))
        return false;
    home_keep(r->message->home);
    size_t at = result_position(c, r->view.call);
    memmove(c->results + at + 1, c->results + at,
            (c->result_count - at) * sizeof *c->results);
    c->results[at] = &r->view;
    c->result_count++;
    return true;
}

struct tool_result *context_new_result(allm_context *c,
                                       const allm_tool_call *call,
                                       struct slice text, bool is_error,
                                       const allm_json *images)
{
    struct tool_result *r = arena_zero(c->arena, sizeof *r);
    if (!r)
        return NULL;
    r->view.call = call;
    r->view.is_error = is_error;
    r->arguments = call->arguments;
    r->outcome.images = images;
    if (!result_close(r, text))
        return NULL;
    const allm_json *value = build_alone(
        c->arena, (struct slice){ r->view.content, r->view.content_len });
    r->outcome = is_error ? outcome_reported(value)
                          : (struct outcome){ .kind = OUTCOME_RESULT,
                                              .value = value,
                                              .images = images };
    bool added = value && context_push_result(c, r);
    home_drop(r->message->home);    /* the list has a reference of its own */
    r->done = added;
    return added ? r : NULL;
}

void context_halt(allm_context *c, const struct tool_result *r)
{
    if (r->halts && (!c->halt || context_index(c, r->view.call->id) <
                                     context_index(c, c->halt->view.call->id)))
        c->halt = r;
}

struct turn_event *context_queue(allm_context *c)
{
    struct turn_event *e = arena_zero(c->arena, sizeof *e);
    if (!e) {
        c->broken = true;
        return NULL;
    }
    e->event.size = sizeof e->event;
    *c->last_event = e;
    c->last_event = &e->next;
    return e;
}

allm_event *context_put(allm_context *c, allm_event_type type)
{
    struct turn_event *e = context_queue(c);
    if (!e)
        return NULL;
    e->event.type = type;
    return &e->event;
}

struct turn_event *context_take(allm_context *c)
{
    struct turn_event *e = c->events;
    if (!e)
        return NULL;
    c->events = e->next;
    if (!c->events)
        c->last_event = &c->events;
    return e;
}

/* {"finish_reason": name} */
static const allm_json *finish_metadata(struct arena *a, allm_finish finish)
{
    struct build b = build_object_in(a);
    build_text_or_null_at(&b, "finish_reason",
                          response_finish_words.word[finish]);
    return build_finish(&b);
}

allm_message *context_assistant(const allm_context *c)
{
    const allm_response *r = c->response;
    const allm_json *metadata = finish_metadata(c->arena, r->finish_reason);
    if (!metadata)
        return NULL;
    return allm_message_new(
        ALLM(message, .role = ALLM_ROLE_ASSISTANT,
             .text = r->output_text ? r->output_text : "",
             .text_len = r->output_text ? r->output_len : 0,
             .tool_call_count = r->tool_call_count,
             .tool_calls = r->tool_call_count ? r->tool_calls : NULL,
             .metadata = metadata,
             .provider_state = r->message ? r->message->provider_state : NULL));
}

const allm_response *allm_context_response(const allm_context *c)
{
    return c ? c->response : NULL;
}

const allm_message *const *allm_context_messages(const allm_context *c,
                                                 size_t *count)
{
    return allm_thread_messages(c ? c->history : NULL, count);
}

const allm_tool *const *allm_context_tools(const allm_context *c, size_t *count)
{
    if (count)
        *count = c ? c->tool_count : 0;
    return c ? c->tools : NULL;
}

uint32_t allm_context_iteration(const allm_context *c)
{
    return c ? c->iteration : 0;
}

uint32_t allm_context_max_iterations(const allm_context *c)
{
    return c ? c->max_iterations : 0;
}

const allm_tool_call *const *allm_context_tool_calls(const allm_context *c,
                                                     size_t *count)
{
    if (count)
        *count = c ? c->call_count : 0;
    return c ? c->calls : NULL;
}

const allm_call_result *const *allm_context_tool_results(const allm_context *c,
                                                         size_t *count)
{
    if (count)
        *count = c ? c->result_count : 0;
    return c ? c->results : NULL;
}

const allm_message *const *allm_context_result_messages(const allm_context *c,
                                                        size_t *count)
{
    if (count)
        *count = c ? c->message_count : 0;
    return c ? c->messages : NULL;
}

const allm_json *allm_context_validation_errors(const allm_context *c)
{
    if (!c)
        return NULL;
    struct build b = build_array_in(c->arena);
    for (const struct turn_fault *f = c->faults; f; f = f->next) {
        build_array(&b);
        build_text(&b, slice_of(f->what));
        build_text(&b, slice_of(f->name));
        if (f->texts)
            build_value(&b, f->texts);
        build_end(&b);
    }
    return build_finish(&b);
}

allm_decision allm_context_decision(const allm_context *c)
{
    return c ? c->decision : ALLM_DECISION_NONE;
}

const char *allm_context_reason(const allm_context *c)
{
    return c ? c->reason : NULL;
}

allm_status allm_context_status(const allm_context *c)
{
    return c ? c->status : ALLM_ERR_NOMEM;
}

const allm_error *allm_context_error(const allm_context *c)
{
    return c ? c->error : status_nomem();
}

const allm_json *allm_context_trace(const allm_context *c)
{
    if (!c)
        return NULL;
    struct build b = build_array_in(c->arena);
    for (const struct turn_trace *t = c->trace; t; t = t->next) {
        bool plain = !t->has_n && !t->text;
        if (!plain)
            build_array(&b);
        build_text(&b, slice_of(t->tag));
        if (t->has_n)
            build_int(&b, t->n);
        else if (t->text)
            build_text(&b, slice_of(t->text));
        if (!plain)
            build_end(&b);
    }
    return build_finish(&b);
}

const allm_tool_call *allm_context_terminal_call(const allm_context *c)
{
    return c ? c->terminal_call : NULL;
}

const struct allm_executor *allm_context_executor(const allm_context *c)
{
    return c ? c->executor : NULL;
}

void *allm_context_alloc(allm_context *c, size_t size)
{
    return c ? arena_zero(c->arena, size) : NULL;
}

void *allm_context_state(allm_context *c, size_t size)
{
    if (!c)
        return NULL;
    for (struct turn_state *s = c->states; s; s = s->next)
        if (s->stage == c->stage)
            return s->bytes;
    struct turn_state *s = arena_zero(c->arena, sizeof *s);
    void *bytes = arena_zero(c->arena, size);
    if (!s || !bytes)
        return NULL;
    *s = (struct turn_state){ c->states, c->stage, bytes };
    c->states = s;
    return bytes;
}

allm_status allm_context_note(allm_context *c, const char *tag,
                              const char *text)
{
    if (!c)
        return ALLM_ERR_NOMEM;
    if (!tag || !*tag)
        return ALLM_ERR_MISUSE;
    context_note_text(c, arena_text(c->arena, tag), text);
    return c->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}

allm_status allm_context_decide(allm_context *c, allm_decision d,
                                const char *reason, const allm_json *payload)
{
    if (!c)
        return ALLM_ERR_NOMEM;
    bool known = d >= ALLM_DECISION_NONE && d <= ALLM_DECISION_RETRY;
    bool has_reason = reason && *reason;
    if (!known || (d == ALLM_DECISION_HALT && !has_reason))
        return ALLM_ERR_MISUSE;
    context_decide(c, d, reason);
    c->payload = json_copy(c->arena, payload);
    return c->arena->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}

allm_status allm_context_fail(allm_context *c, const allm_error *error)
{
    if (!c || !error)
        return ALLM_ERR_NOMEM;
    if (error->size < sizeof *error || error->kind >= ALLM_OK)
        return ALLM_ERR_MISUSE;
    allm_error *mine = arena_alloc(c->arena, sizeof *mine);
    if (!mine)
        return ALLM_ERR_NOMEM;
    *mine = *error;
    mine->home = NULL;
    mine->reason = arena_text(c->arena,
                              error->reason ? error->reason : "unknown");
    mine->message = arena_text(c->arena, error->message);
    mine->provider = arena_text(c->arena, error->provider);
    mine->request_id = arena_text(c->arena, error->request_id);
    mine->tool_name = arena_text(c->arena, error->tool_name);
    mine->tool_call_id = arena_text(c->arena, error->tool_call_id);
    mine->errors = json_copy(c->arena, error->errors);
    mine->cause = json_copy(c->arena, error->cause);
    mine->metadata = json_copy(c->arena, error->metadata);
    mine->kept = NULL;
    if (!error_settle(c->arena, mine) || c->arena->broken)
        return ALLM_ERR_NOMEM;
    c->error = mine;
    c->status = mine->kind;
    context_decide(c, ALLM_DECISION_ERROR, mine->reason);
    return mine->kind;
}

allm_status allm_context_set_tool_calls(allm_context *c, size_t count,
                                        const allm_tool_call *const *calls)
{
    if (!c)
        return ALLM_ERR_NOMEM;
    if (count && !calls)
        return ALLM_ERR_MISUSE;
    const allm_tool_call **mine = arena_alloc(c->arena,
                                              (count + 1) * sizeof *mine);
    if (!mine)
        return ALLM_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        mine[i] = calls[i];
    c->calls = mine;
    c->call_count = count;
    return ALLM_OK;
}

allm_status allm_context_add_result(allm_context *c, const allm_tool_call *call,
                                    const char *content, size_t len,
                                    bool is_error)
{
    if (!c)
        return ALLM_ERR_NOMEM;
    if (!call || !content)
        return ALLM_ERR_MISUSE;
    struct slice text = slice_given(content, len);
    return context_new_result(c, call, text, is_error, NULL) ? ALLM_OK
                                                             : ALLM_ERR_NOMEM;
}

allm_status allm_context_add_message(allm_context *c, const allm_message *m)
{
    if (!c || !m)
        return ALLM_ERR_NOMEM;
    allm_message *mine = allm_message_keep(m);
    const allm_error *error = allm_message_error(mine);
    if (mine && error) {
        allm_message_free(mine);
        return ALLM_ERR_MISUSE;
    }
    context_push_message(c, mine);
    return c->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}

/* Only events about tools: those of the answer are already emitted. */
static bool may_emit(allm_event_type type)
{
    return type == ALLM_EV_TOOL_EXECUTION_STARTED ||
           type == ALLM_EV_TOOL_EXECUTION_COMPLETED ||
           type == ALLM_EV_TOOL_RESULT_ENCODED || type == ALLM_EV_RAW_CHUNK;
}

allm_status allm_context_emit(allm_context *c, const allm_event *event)
{
    if (!c || !event)
        return ALLM_ERR_NOMEM;
    if (event->size != sizeof *event || !may_emit(event->type))
        return ALLM_ERR_MISUSE;
    allm_event *mine = context_put(c, event->type);
    if (!mine)
        return ALLM_ERR_NOMEM;
    *mine = *event;
    mine->home = NULL;
    mine->id = arena_text(c->arena, event->id);
    mine->name = arena_text(c->arena, event->name);
    struct slice text = { event->text, event->text ? event->text_len : 0 };
    if (event->text && !event->text_len)
        text = slice_of(event->text);
    mine->text = arena_copy(c->arena, text);
    mine->text_len = text.len;
    mine->arguments = json_copy(c->arena, event->arguments);
    mine->result = json_copy(c->arena, event->result);
    mine->chunk = json_copy(c->arena, event->chunk);
    return c->arena->broken ? ALLM_ERR_NOMEM : ALLM_EVENT;
}

void allm_context_wait_until(allm_context *c, int64_t ns)
{
    if (c)
        c->again_ns = ns;
}

allm_waker *allm_context_waker(const allm_context *c)
{
    return c ? c->waker : NULL;
}

int64_t allm_context_now(const allm_context *c)
{
    return c ? clock_now_ns(c->clock) : 0;
}
