/*
 * operation.c - run a chat or step of a session and store its result there
 *
 *      stream --> operation --> the machine of a chat or a step
 *                     |
 *                     '--> session: the result, if there is one
 *
 * A session in a store has a journal: session/journal.c writes each step of
 * the machine before it takes effect, and the result before it is shown.
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
#include "data/session_record.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "run/refused.h"
#include "run/stream.h"
#include "session/approve.h"
#include "session/commit.h"
#include "session/journal.h"
#include "session/live.h"
#include "session/project.h"
#include "json/json.h"

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
    allm_session_record *base;      /* the session without this operation */
    allm_session_record *before;    /* for a step that is undone */
    const allm_session_record *after;
    allm_stream *stream;            /* which owns this */
    struct op_journal *journal;     /* of a session in a store; or NULL */
    struct live *live;              /* its events for followers; or NULL */
    bool resumed;
    bool decided;                   /* it runs calls that were decided later */
    bool pulled;
    struct arena arena;             /* of the error */
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
    const allm_chat_result failed = {
        .size = sizeof failed,
        .halted_reason = HALTED_ERROR,
        .error = step->response ? step->response->error : NULL,
        .metadata = step->metadata,
    };
    return failed.error ? project_chat(r->base, &failed, r->input)
                        : project_cancelled(r->base, r->input);
}

static allm_session_record *project_result(const struct operation *r,
                                           const void *result)
{
    if (r->kind == MACHINE_CHAT)
        return project_chat(r->base, result, r->input);
    if (!r->complete)
        return project_partial(r, result);
    return project_step(r->base, result,
                        r->inner->ops->result(r->inner, MACHINE_HALT));
}

/* A call that has begun needs a new decision to begin again.  Without a
 * journal it is not known which have.  Frees the record; NULL: out of
 * memory. */
static allm_session_record *consume_decisions(const struct operation *r,
                                              allm_session_record *record)
{
    if (!r->decided || !r->pulled)
        return record;
    return approve_consume(record, r->journal ? &r->journal->calls : NULL);
}

/* ------------------------------------------------------------ journal --- */

/* For the journal: the session as it is after this entry. */
static allm_session_record *project_end(void *ud,
                                        const allm_journal_entry *entry)
{
    struct operation *r = ud;
    r->complete = true;
    return project_result(r, r->kind == MACHINE_CHAT
                                 ? (const void *)entry->chat_result
                                 : (const void *)entry->step);
}

/* The result of an operation that was stopped, with a note about the calls
 * that had begun. */
static allm_session_record *project_stopped(struct operation *r,
                                            const void *result)
{
    const allm_json *note = fold_interrupted(&r->journal->calls,
                                             &r->journal->arena);
    return project_interrupted(consume_decisions(r, project_result(r, result)),
                               note);
}

static const char *halted_word(const struct operation *r, const void *result)
{
    const allm_chat_result *chat = result;
    return r->kind == MACHINE_CHAT && chat->halted_reason ? chat->halted_reason
                                                          : HALTED_CANCELLED;
}

/* The record of a journalled operation; NULL: it could not be written. */
static allm_session_record *journalled_result(struct operation *r,
                                              const void *result)
{
    struct op_journal *j = r->journal;
    allm_session_record *record = NULL;
    if (j->ended && !j->error) {
        record = j->after;
        j->after = NULL;
        return record;
    }
    record = j->error ? NULL : project_stopped(r, result);
    if (record && !journal_close(j, halted_word(r, result), record)) {
        allm_session_record_free(record);
        record = NULL;
    }
    return record;
}

/* The operation stays open in the store: show the session as a fresh open
 * would. */
static void show_broken_off(struct operation *r)
{
    const allm_error *why = r->journal->error;
    if (why)
        r->error = status_retell(&r->arena, why);
    r->session->place->stale = true;
    durable_reload(r->session, &r->arena);
}

/* ------------------------------------------------------------ results --- */

static void close_operation(struct operation *r)
{
    r->stored = true;
    r->session->open = false;
    r->session->operation = NULL;
    if (r->journal)
        store_session_watch(r->session->place->store, NULL);
}

/* Store the result, if there is one; false: it could not be stored, and the
 * session is as before, or shows a broken-off operation. */
static bool store_result(struct operation *r)
{
    const void *result = r->inner->ops->result(r->inner, r->kind);
    allm_session *s = r->session;
    if (r->stored)
        return !r->error;
    close_operation(r);
    if (!result) {
        if (r->journal && r->journal->begun)
            show_broken_off(r);
        return true;
    }
    allm_session_record *record =
        r->journal ? journalled_result(r, result)
                   : consume_decisions(r, project_result(r, result));
    if (!record) {
        r->error = status_nomem();
        if (r->journal)
            show_broken_off(r);
        s->error = r->error;
        return false;
    }
    if (s->place)
        place_close(s->place);
    r->after = record;
    r->before = state_replace(s, record);
    return true;
}

/* The session before the operation, without the decisions that it used. */
static void forget_decisions(struct operation *r)
{
    allm_session_record *record =
        consume_decisions(r, shape_keep_root(&session_record_shape, r->base));
    if (!record)
        return;                 /* the error of the stream says so */
    allm_session_record_free(r->base);
    r->base = shape_keep_root(&session_record_shape, record);
    allm_session_record_free(state_replace(r->session, record));
}

/* The operation failed and has no result.  It stays open if it was resumed, or
 * if its input was sent: nobody else has these messages. */
static void close_without_result(struct operation *r)
{
    struct op_journal *j = r->journal;
    close_operation(r);
    bool begun = j && (j->begun || j->open);
    bool stays = j &&
                 (j->error || (begun && (r->resumed || j->start.inbox_upto)));
    if (!stays && r->decided)
        forget_decisions(r);
    if (stays || (begun && !journal_close(j, HALTED_ERROR, r->base)))
        show_broken_off(r);
}

/* Another process may have taken or cancelled the session.  OK: go on. */
static allm_status check_store(struct operation *r, int64_t *again_ns)
{
    const struct store_session *t = r->session->place->store;
    const allm_error *gone = store_session_gone(t, &r->arena);
    if (gone) {
        r->inner->ops->stop(r->inner, true);
        close_operation(r);
        r->error = gone;
        return gone->kind;
    }
    if (!r->journal->begun || !store_session_cancelled(t, r->journal->begin))
        return ALLM_OK;
    allm_stream_cancel(r->stream);
    *again_ns = MACHINE_BUSY;
    return ALLM_AGAIN;
}

static allm_status run_inner(struct operation *r, allm_event **event,
                             int64_t *again_ns)
{
    const allm_event_type last = r->kind == MACHINE_CHAT
                                     ? ALLM_EV_CHAT_COMPLETED
                                     : ALLM_EV_STEP_COMPLETED;
    if (r->error)
        return r->error->kind;
    allm_status status = r->journal && !r->stored ? check_store(r, again_ns)
                                                  : ALLM_OK;
    if (status != ALLM_OK)
        return status;
    status = r->inner->ops->next(r->inner, event, again_ns);
    if (status < 0 && !r->stored)
        close_without_result(r);
    bool ends = status == ALLM_OK ||
                (status == ALLM_EVENT && (*event)->type == last);
    if (status == ALLM_EVENT && ends)
        r->complete = true;
    return ends && !store_result(r) ? r->error->kind : status;
}

static void close_live(struct operation *r)
{
    live_close(r->live);
    r->live = NULL;
}

static allm_status operation_next(struct machine *m, allm_event **event,
                                  int64_t *again_ns)
{
    struct operation *r = operation_of(m);
    r->pulled = true;
    allm_status status = run_inner(r, event, again_ns);
    if (!r->live)
        return status;
    if (status == ALLM_EVENT && r->journal->begun)
        live_add(r->live, *event, journal_head(r->journal));
    if (r->stored || status == ALLM_OK || status < 0)
        close_live(r);
    else
        live_rest(r->live, again_ns);
    return status;
}

static void operation_stop(struct machine *m, bool cancelled)
{
    struct operation *r = operation_of(m);
    r->inner->ops->stop(r->inner, cancelled);
    store_result(r);
    close_live(r);
}

static void operation_free(struct machine *m)
{
    struct operation *r = operation_of(m);
    struct mem mem = r->mem;
    if (!r->stored)
        operation_stop(m, true);
    r->inner->ops->free(r->inner);
    close_live(r);
    journal_free(r->journal);
    allm_session_record_free(r->base);
    allm_session_record_free(r->before);
    state_drop(r->session);
    arena_release(&r->arena);
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
        if (s->place)
            commit_change(s->place, "undo", s->record, &r->arena);
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

void operation_let_go(struct operation *r)
{
    r->inner->ops->stop(r->inner, true);
    if (r->journal)
        journal_leave(r->journal);
    close_live(r);
    close_operation(r);
    r->error = status_error(&r->arena, ALLM_ERR_SESSION, "session_released",
                            "the session was released while this operation "
                            "ran; its next holder continues it with "
                            "allm_session_resume()");
    allm_waker_ring(stream_waker(r->stream));
}

/* ----------------------------------------------------------- starting --- */

static char *copy_input(struct mem mem, struct slice text)
{
    char *input = text.ptr ? mem_alloc(mem, text.len + 1) : NULL;
    if (input) {
        memcpy(input, text.ptr, text.len);
        input[text.len] = '\0';
    }
    return input;
}

static struct operation *make_operation(allm_session *s,
                                        const struct operation_plan *plan)
{
    struct mem mem = s->mem;
    struct operation *r = mem_alloc(mem, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct operation){ .machine = { &operation_ops }, .mem = mem,
                             .session = s, .resumed = plan->resumed != NULL,
                             .decided = plan->decided };
    r->kind = strcmp(plan->word, "step") ? MACHINE_CHAT : MACHINE_STEP;
    r->input = copy_input(mem, plan->input);
    if (plan->input.ptr && !r->input) {
        mem_free(mem, r, sizeof *r);
        return NULL;
    }
    arena_init(&r->arena, mem);
    r->base = shape_keep_root(&session_record_shape,
                              plan->resumed ? s->place->before : s->record);
    return r;
}

/* Insert an operation between the stream and its machine.  It owns the
 * journal. */
static allm_stream *attach_session(allm_stream *stream, allm_session *s,
                                   const struct operation_plan *plan,
                                   struct op_journal *j, struct clock clock)
{
    if (!stream || allm_stream_error(stream)) {
        journal_free(j);
        return stream;              /* refused: it will have no result */
    }
    struct operation *r = make_operation(s, plan);
    if (!r) {
        allm_stream_free(stream);
        journal_free(j);
        return NULL;
    }
    r->inner = stream_machine(stream);
    r->stream = stream;
    r->journal = j;
    if (j) {
        j->project = project_end;
        j->project_ud = r;
        j->request_id = r->inner->ops->request_id(r->inner);
        r->live = live_open(s->place->store, clock, j->begin);
    }
    state_keep(s);
    s->open = true;
    s->operation = r;
    stream_wrap(stream, &r->machine);
    return stream;
}

static bool has_option(const allm_call_opts *o, const char *name)
{
    const allm_json *v = allm_json_get(o->json, name);
    return v && allm_json_type_of(v) != ALLM_JSON_NULL;
}

/* A context of null in the JSON selects the engine's. */
bool operation_opts(allm_call_opts *out, const allm_session *s,
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

const allm_error *operation_own_opts(const allm_call_opts *opts,
                                     struct arena *a)
{
    allm_call_opts given;
    if (!caller_struct_take(&given, sizeof given, opts) ||
        (!given.journal && !given.replay && !given.key_prefix))
        return NULL;
    return status_error(
        a, ALLM_ERR_MISUSE, "invalid_options",
        "a session in a store writes its own journal; leave out journal, "
        "replay and key_prefix");
}

/* The options that a resume needs: no key, no header, nothing of a provider. */
static const allm_json *recorded_options(struct arena *a,
                                         const struct options *o)
{
    const allm_json *v = options_only(a, o->all,
                                      1u << OPTION_LOOP | 1u << OPTION_REQUEST);
    if (v && json_at(v, "session_id"))
        v = json_set(a, v, SLICE("session_id"), NULL);
    if (v && o->model)
        v = json_set(a, v, SLICE("model"), json_at(o->all, "model"));
    return v;
}

/* The journal of a session in a store.  NULL with *error: out of memory; NULL
 * without: the call rejects its options. */
static struct op_journal *open_journal(const allm_engine *e, allm_session *s,
                                       const struct operation_plan *plan,
                                       const allm_error **error)
{
    struct options o;
    struct op_journal *j = NULL;
    struct allm_home *home = home_new(s->mem, 0);
    *error = home ? NULL : status_nomem();
    if (home && !options_read(&o, home, &plan->opts)) {
        struct journal_start start = {
            .op = plan->word,
            .model = engine_model(e, &o, NULL),
            .options = recorded_options(home_arena(home), &o),
            .thread = plan->thread,
            .inbox_upto = plan->inbox_upto,
            .resumed = plan->resumed,
            .again = plan->again,
        };
        if (start.options)
            j = journal_open(s->place, &start);
        if (!j)
            *error = status_nomem();
    }
    home_drop(home);
    return j;
}

allm_stream *operation_run(const allm_engine *e, allm_session *s,
                           const struct operation_plan *plan)
{
    allm_call_opts opts = plan->opts;
    const allm_error *error = NULL;
    struct op_journal *j = s->place ? open_journal(e, s, plan, &error) : NULL;
    if (error)
        return refused_stream(e, error);
    if (j) {
        opts.journal = journal_take;
        opts.journal_ud = j;
        opts.key_prefix = j->key_prefix;
    }
    /* A step borrows its thread, so it must outlive the stream. */
    const allm_thread *thread = plan->sent ? plan->sent
                                : j        ? j->thread
                                           : plan->thread;
    allm_stream *stream = strcmp(plan->word, "step")
                              ? allm_chat(e, thread, &opts)
                              : allm_step(e, thread, &opts);
    return attach_session(stream, s, plan, j, engine_core(e)->clock);
}

static const char *op_word(enum session_op op)
{
    return op == SESSION_START   ? "start"
           : op == SESSION_STEP  ? "step"
           : op == SESSION_REPLY ? "reply"
                                 : "continue";
}

/* May it begin?  *with becomes the thread with the message. */
static const allm_error *check_begin(allm_session *s, enum session_op op,
                                     const allm_message *message,
                                     const allm_call_opts *opts,
                                     struct arena *a, allm_thread **with)
{
    const allm_error *error = durable_refresh(s, a);
    if (!error)
        error = state_forbids(s, op, a);
    if (!error && s->place)
        error = operation_own_opts(opts, a);
    if (!error && message)
        *with = state_thread_with(s, message, a, &error);
    return error;
}

/* Run the calls that were decided later, as the first turn. */
static allm_stream *run_decided(const allm_engine *e, allm_session *s,
                                struct operation_plan *plan, struct arena *a)
{
    struct approve_turn turn = { .thread = NULL };
    const allm_error *error = approve_turn_make(&turn, a, s->record);
    if (!error && plan->opts.replay)
        error = status_error(a, ALLM_ERR_MISUSE, "invalid_options",
                             "the session has calls that were decided, which "
                             "it replays itself; leave out replay");
    plan->sent = turn.thread;
    plan->opts.replay = plan->again = &turn.replay;
    plan->decided = true;
    allm_stream *stream = error ? refused_stream(e, error)
                                : operation_run(e, s, plan);
    plan->sent = NULL;
    plan->opts.replay = plan->again = NULL;
    approve_turn_release(&turn);
    return stream;
}

allm_stream *operation_begin(const allm_engine *e, allm_session *s,
                             enum session_op op, const allm_message *message,
                             const allm_call_opts *opts)
{
    allm_thread *with = NULL;
    allm_stream *stream = NULL;
    if (!e || !s)
        return refused_missing(e, "invalid_session", "session");
    struct arena scratch = arena_in(s->mem);
    const allm_error *error = check_begin(s, op, message, opts, &scratch,
                                          &with);
    struct operation_plan plan = { .word = op_word(op) };
    const allm_message *last = with ? allm_thread_last(with) : NULL;
    if (last && last->role == ALLM_ROLE_USER && last->text)
        plan.input = (struct slice){ last->text, last->text_len };
    if (error) {
        stream = refused_stream(e, error);
    } else {
        plan.thread = with ? with : s->record->thread;
        if (!operation_opts(&plan.opts, s, opts))
            stream = allm_chat(e, plan.thread, opts);   /* rejects them */
        else if (op == SESSION_CONTINUE && approve_ready(s->record))
            stream = run_decided(e, s, &plan, &scratch);
        else
            stream = operation_run(e, s, &plan);
    }
    allm_thread_free(with);
    arena_release(&scratch);
    return stream;
}
