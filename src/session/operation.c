/*
 * operation.c - run a chat or step of a session and store its result there
 *
 *      stream --> operation --> the machine of a chat or a step
 *                     |
 *                     '--> session: the result, if there is one
 *
 * Invariants
 *   (1) The result is stored once: with the last event, at the end, when the
 *       machine is stopped, or when it is freed.
 *   (2) The session is open from the beginning until then.
 */
#include "session/operation.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "run/refused.h"
#include "run/stream.h"
#include "session/project.h"

struct operation {
    struct machine machine;
    struct machine *inner;
    struct mem mem;
    allm_session *session;
    char *input;                    /* the user's message, or NULL */
    enum machine_result kind;       /* STEP or CHAT */
    bool stored;                    /* keeps (1) */
    bool complete;                  /* the last event was emitted */
    const allm_error *error;
    allm_session_record *before;    /* for a step that is undone */
    const allm_session_record *after;
};

static struct operation *operation_of(struct machine *m)
{
    return (struct operation *)m;
}

static const struct operation *const_operation_of(const struct machine *m)
{
    return (const struct operation *)m;
}

/* A step that was cancelled; after an error it counts as a failed chat. */
static allm_session_record *project_partial(const struct operation *r,
                                            const allm_step_result *step)
{
    const allm_session_record *old = r->session->record;
    const allm_chat_result failed = {
        .size = sizeof failed,
        .halted_reason = HALTED_ERROR,
        .error = step->response ? step->response->error : NULL,
        .metadata = step->metadata,
    };
    return failed.error ? project_chat(old, &failed, r->input)
                        : project_cancelled(old, r->input);
}

static allm_session_record *project_result(const struct operation *r,
                                           const void *result)
{
    const allm_session_record *old = r->session->record;
    if (r->kind == MACHINE_CHAT)
        return project_chat(old, result, r->input);
    if (!r->complete)
        return project_partial(r, result);
    return project_step(old, result,
                        r->inner->ops->result(r->inner, MACHINE_HALT));
}

/* Store the result, if there is one; false: out of memory, and the session is
 * unchanged. */
static bool store_result(struct operation *r)
{
    const void *result = r->inner->ops->result(r->inner, r->kind);
    allm_session *s = r->session;
    if (r->stored)
        return !r->error;
    r->stored = true;
    s->open = false;
    if (!result)
        return true;
    allm_session_record *record = project_result(r, result);
    if (!record) {
        r->error = status_nomem();
        s->error = r->error;
        return false;
    }
    r->after = record;
    r->before = state_replace(s, record);
    return true;
}

/* The operation failed and has no result. */
static void close_without_result(struct operation *r)
{
    r->stored = true;
    r->session->open = false;
}

static allm_status operation_next(struct machine *m, allm_event **event,
                                  int64_t *again_ns)
{
    struct operation *r = operation_of(m);
    const allm_event_type last = r->kind == MACHINE_CHAT
                                     ? ALLM_EV_CHAT_COMPLETED
                                     : ALLM_EV_STEP_COMPLETED;
    allm_status status = r->inner->ops->next(r->inner, event, again_ns);
    if (status < 0 && !r->stored)
        close_without_result(r);
    bool ends = status == ALLM_OK ||
                (status == ALLM_EVENT && (*event)->type == last);
    if (status == ALLM_EVENT && ends)
        r->complete = true;
    return ends && !store_result(r) ? ALLM_ERR_NOMEM : status;
}

static void operation_stop(struct machine *m, bool cancelled)
{
    struct operation *r = operation_of(m);
    r->inner->ops->stop(r->inner, cancelled);
    store_result(r);
}

static void operation_free(struct machine *m)
{
    struct operation *r = operation_of(m);
    struct mem mem = r->mem;
    if (!r->stored)
        operation_stop(m, true);
    r->inner->ops->free(r->inner);
    allm_session_record_free(r->before);
    state_drop(r->session);
    if (r->input)
        mem_free(mem, r->input, strlen(r->input) + 1);
    mem_free(mem, r, sizeof *r);
}

static const allm_error *operation_error(const struct machine *m)
{
    const struct operation *r = const_operation_of(m);
    return r->error ? r->error : r->inner->ops->error(r->inner);
}

static bool operation_failed(const struct machine *m, int64_t *again_ns)
{
    const struct operation *r = const_operation_of(m);
    return r->error || r->inner->ops->failed(r->inner, again_ns);
}

static const allm_response *operation_response(const struct machine *m)
{
    const struct operation *r = const_operation_of(m);
    return r->error ? NULL : r->inner->ops->response(r->inner);
}

static const char *operation_request_id(const struct machine *m)
{
    const struct operation *r = const_operation_of(m);
    return r->inner->ops->request_id(r->inner);
}

static const void *operation_result(const struct machine *m,
                                    enum machine_result which)
{
    const struct operation *r = const_operation_of(m);
    return r->error ? NULL : r->inner->ops->result(r->inner, which);
}

static const char *operation_output(const struct machine *m, const char *id,
                                    size_t *len)
{
    const struct operation *r = const_operation_of(m);
    return r->inner->ops->output(r->inner, id, len);
}

/* A blocking call of a step returns an error where pulling emits an event.  It
 * then has no result, so the session gets its old record back. */
static allm_status operation_blocked(struct machine *m)
{
    struct operation *r = operation_of(m);
    const struct machine_ops *inner = r->inner->ops;
    allm_status status = inner->blocked ? inner->blocked(r->inner) : ALLM_OK;
    allm_session *s = r->session;
    if (status < 0 && r->before && s->record == r->after) {
        allm_session_record_free(state_replace(s, r->before));
        r->before = NULL;
    }
    return status;
}

static const struct machine_ops operation_ops = {
    .next = operation_next,
    .stop = operation_stop,
    .free = operation_free,
    .error = operation_error,
    .failed = operation_failed,
    .response = operation_response,
    .request_id = operation_request_id,
    .result = operation_result,
    .output = operation_output,
    .blocked = operation_blocked,
};

/* Insert an operation between the stream and its machine. */
static allm_stream *attach_session(allm_stream *stream, allm_session *s,
                                   enum machine_result kind, struct slice text)
{
    if (!stream || allm_stream_error(stream))
        return stream;              /* refused: it will have no result */
    struct mem mem = s->mem;
    struct operation *r = mem_alloc(mem, sizeof *r);
    char *input = r && text.ptr ? mem_alloc(mem, text.len + 1) : NULL;
    if (!r || (text.ptr && !input)) {
        mem_free(mem, r, sizeof *r);
        allm_stream_free(stream);
        return NULL;
    }
    if (input) {
        memcpy(input, text.ptr, text.len);
        input[text.len] = '\0';
    }
    *r = (struct operation){ .machine = { &operation_ops }, .mem = mem,
                           .inner = stream_machine(stream), .session = s,
                           .input = input, .kind = kind };
    state_keep(s);
    s->open = true;
    stream_wrap(stream, &r->machine);
    return stream;
}

static bool has_option(const allm_call_opts *o, const char *name)
{
    const allm_json *v = allm_json_get(o->json, name);
    return v && allm_json_type_of(v) != ALLM_JSON_NULL;
}

/* Copy the options and add the session's context and id.  A context of null
 * selects the engine's.  False: the struct is invalid, and the call rejects
 * it. */
static bool fill_opts(allm_call_opts *out, const allm_session *s,
                      const allm_call_opts *opts)
{
    const allm_session_record *r = s->record;
    if (!caller_struct_take(out, sizeof *out, opts))
        return false;
    if (!out->context && !allm_json_get(out->json, "context") &&
        allm_json_count(r->context))
        out->context = r->context;
    if (!out->session_id && !has_option(out, "session_id"))
        out->session_id = r->id;
    return true;
}

allm_stream *operation_begin(const allm_engine *e, allm_session *s,
                             enum session_op op, const allm_message *message,
                             const allm_call_opts *opts)
{
    struct arena scratch;
    allm_call_opts filled;
    allm_thread *with = NULL;
    allm_stream *stream = NULL;
    struct slice input = { 0 };
    if (!e || !s)
        return refused_missing(e, "invalid_session", "session");
    arena_init(&scratch, s->mem);
    const allm_error *error = state_forbids(s, op, &scratch);
    if (!error && message) {
        with = state_thread_with(s, message, &scratch, &error);
        const allm_message *last = allm_thread_last(with);
        if (last && last->role == ALLM_ROLE_USER && last->text)
            input = (struct slice){ last->text, last->text_len };
    }
    if (error) {
        stream = refused_stream(e, error);
    } else {
        const allm_thread *t = with ? with : s->record->thread;
        const allm_call_opts *o = fill_opts(&filled, s, opts) ? &filled : opts;
        stream = op == SESSION_STEP ? allm_step(e, t, o) : allm_chat(e, t, o);
        stream = attach_session(
            stream, s, op == SESSION_STEP ? MACHINE_STEP : MACHINE_CHAT, input);
    }
    allm_thread_free(with);
    arena_release(&scratch);
    return stream;
}
