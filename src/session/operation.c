/*
 * operation.c - ask the model, and put what comes of it into the session
 *
 *      stream --> running --> the machine of a chat or a step
 *                    |
 *                    '--> session: the result, when there is one
 *
 * Invariants
 *   (1) The session gets a result once: with the last event, at the end, when
 *       the machine is stopped, or when it is freed.
 *   (2) It is open from the beginning until then.
 */
#include "session/operation.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "run/refused.h"
#include "run/stream.h"
#include "session/project.h"

/* ---------------------------------------------------------------- running --- */

struct running {
    struct machine machine;
    struct machine *inner;
    struct mem mem;
    allm_session *session;
    char *input;                    /* what the user said; NULL: nothing */
    enum machine_result kind;       /* STEP or CHAT */
    bool settled;                   /* keeps (1) */
    bool complete;                  /* the step is */
    const allm_error *error;
    allm_session_record *before;    /* of a step, for one that is undone */
    const allm_session_record *made;
};

static struct running *of(struct machine *m)
{
    return (struct running *)m;
}

static const struct running *look(const struct machine *m)
{
    return (const struct running *)m;
}

/* A step that was cancelled; behind an error it has failed, as a chat has. */
static allm_session_record *project_cut(const struct running *r,
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

static allm_session_record *project(const struct running *r, const void *result)
{
    const allm_session_record *old = r->session->record;
    if (r->kind == MACHINE_CHAT)
        return project_chat(old, result, r->input);
    if (!r->complete)
        return project_cut(r, result);
    return project_step(old, result,
                        r->inner->ops->result(r->inner, MACHINE_HALT));
}

/* The session gets what there is; false: no memory, and it is as before. */
static bool settle(struct running *r)
{
    const void *result = r->inner->ops->result(r->inner, r->kind);
    allm_session *s = r->session;
    if (r->settled)
        return !r->error;
    r->settled = true;
    s->open = false;
    if (!result)
        return true;
    allm_session_record *record = project(r, result);
    if (!record) {
        r->error = status_nomem();
        s->error = r->error;
        return false;
    }
    r->made = record;
    r->before = state_take(s, record);
    return true;
}

/* It failed for good: nothing comes of it. */
static void give_up(struct running *r)
{
    r->settled = true;
    r->session->open = false;
}

static allm_status running_next(struct machine *m, allm_event **event,
                                int64_t *again_ns)
{
    struct running *r = of(m);
    const allm_event_type last = r->kind == MACHINE_CHAT
                                     ? ALLM_EV_CHAT_COMPLETED
                                     : ALLM_EV_STEP_COMPLETED;
    allm_status status = r->inner->ops->next(r->inner, event, again_ns);
    if (status < 0 && !r->settled)
        give_up(r);
    bool ends = status == ALLM_OK ||
                (status == ALLM_EVENT && (*event)->type == last);
    if (status == ALLM_EVENT && ends)
        r->complete = true;
    return ends && !settle(r) ? ALLM_ERR_NOMEM : status;
}

static void running_stop(struct machine *m, bool cancelled)
{
    struct running *r = of(m);
    r->inner->ops->stop(r->inner, cancelled);
    settle(r);
}

static void running_free(struct machine *m)
{
    struct running *r = of(m);
    struct mem mem = r->mem;
    if (!r->settled)
        running_stop(m, true);
    r->inner->ops->free(r->inner);
    allm_session_record_free(r->before);
    state_drop(r->session);
    if (r->input)
        mem_free(mem, r->input, strlen(r->input) + 1);
    mem_free(mem, r, sizeof *r);
}

static const allm_error *running_error(const struct machine *m)
{
    const struct running *r = look(m);
    return r->error ? r->error : r->inner->ops->error(r->inner);
}

static bool running_failed(const struct machine *m, int64_t *again_ns)
{
    const struct running *r = look(m);
    return r->error || r->inner->ops->failed(r->inner, again_ns);
}

static const allm_response *running_response(const struct machine *m)
{
    const struct running *r = look(m);
    return r->error ? NULL : r->inner->ops->response(r->inner);
}

static const char *running_id(const struct machine *m)
{
    const struct running *r = look(m);
    return r->inner->ops->request_id(r->inner);
}

static const void *running_result(const struct machine *m,
                                  enum machine_result which)
{
    const struct running *r = look(m);
    return r->error ? NULL : r->inner->ops->result(r->inner, which);
}

static const char *running_output(const struct machine *m, const char *id,
                                  size_t *len)
{
    const struct running *r = look(m);
    return r->inner->ops->output(r->inner, id, len);
}

/* Who waited for a step is told an error where who pulls sees an event, and
 * then has no result: the session is as before, too. */
static allm_status running_blocked(struct machine *m)
{
    struct running *r = of(m);
    const struct machine_ops *inner = r->inner->ops;
    allm_status status = inner->blocked ? inner->blocked(r->inner) : ALLM_OK;
    allm_session *s = r->session;
    if (status < 0 && r->before && s->record == r->made) {
        allm_session_record_free(state_take(s, r->before));
        r->before = NULL;
    }
    return status;
}

static const struct machine_ops running_ops = {
    .next = running_next,
    .stop = running_stop,
    .free = running_free,
    .error = running_error,
    .failed = running_failed,
    .response = running_response,
    .request_id = running_id,
    .result = running_result,
    .output = running_output,
    .blocked = running_blocked,
};

/* Let the session take part in a stream that has begun. */
static allm_stream *join(allm_stream *stream, allm_session *s,
                         enum machine_result kind, struct slice said)
{
    if (!stream || allm_stream_error(stream))
        return stream;              /* refused: nothing will come of it */
    struct mem mem = s->mem;
    struct running *r = mem_alloc(mem, sizeof *r);
    char *input = r && said.ptr ? mem_alloc(mem, said.len + 1) : NULL;
    if (!r || (said.ptr && !input)) {
        mem_free(mem, r, sizeof *r);
        allm_stream_free(stream);
        return NULL;
    }
    if (input) {
        memcpy(input, said.ptr, said.len);
        input[said.len] = '\0';
    }
    *r = (struct running){ .machine = { &running_ops }, .mem = mem,
                           .inner = stream_machine(stream), .session = s,
                           .input = input, .kind = kind };
    state_keep(s);
    s->open = true;
    stream_wrap(stream, &r->machine);
    return stream;
}

/* ------------------------------------------------------------- operations --- */

static bool has_option(const allm_call_opts *o, const char *name)
{
    const allm_json *v = allm_json_get(o->json, name);
    return v && allm_json_type_of(v) != ALLM_JSON_NULL;
}

/* The options, and what the session knows beside them.  A context of null asks
 * for the engine's.  False: they are not filled in, which the call will tell. */
static bool fill_opts(allm_call_opts *out, const allm_session *s,
                      const allm_call_opts *given)
{
    const allm_session_record *r = s->record;
    if (!caller_struct_take(out, sizeof *out, given))
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
                             const allm_call_opts *given)
{
    struct arena told;
    allm_call_opts opts;
    allm_thread *with = NULL;
    allm_stream *stream = NULL;
    struct slice said = { 0 };
    if (!e || !s)
        return refused_missing(e, "invalid_session", "session");
    arena_init(&told, s->mem);
    const allm_error *error = state_forbids(s, op, &told);
    if (!error && message) {
        with = state_thread_with(s, message, &told, &error);
        const allm_message *last = allm_thread_last(with);
        if (last && last->role == ALLM_ROLE_USER && last->text)
            said = (struct slice){ last->text, last->text_len };
    }
    if (error) {
        stream = refused_stream(e, error);
    } else {
        const allm_thread *t = with ? with : s->record->thread;
        bool filled = fill_opts(&opts, s, given);
        const allm_call_opts *o = filled ? &opts : given;
        stream = op == SESSION_STEP ? allm_step(e, t, o) : allm_chat(e, t, o);
        stream = join(stream, s,
                      op == SESSION_STEP ? MACHINE_STEP : MACHINE_CHAT, said);
    }
    allm_thread_free(with);
    arena_release(&told);
    return stream;
}
