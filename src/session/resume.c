/*
 * resume.c - broken-off operations: resume, settle, abandon, let go
 *
 *      fold (what was recorded) --replay--> the same operation, continued
 *
 * A recorded answer is not requested again, recorded results count, calls that
 * may run again do, with the same key.  A write that began and has no result is
 * unknown: nothing runs before it is settled.
 */
#include "session/resume.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "data/thread.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "run/refused.h"
#include "run/tool_output.h"
#include "session/approve.h"
#include "session/commit.h"
#include "session/operation.h"
#include "session/project.h"
#include "session/replay.h"
#include "tool/executor.h"
#include "json/build.h"
#include "json/json.h"

static const allm_error *not_in_store(struct arena *a)
{
    return status_error(a, ALLM_ERR_MISUSE, "missing_store",
                        "this session is not in a store; open one with "
                        "allm_session_open()");
}

static const allm_error *nothing_error(struct arena *a, const struct place *d)
{
    return status_error(a, ALLM_ERR_SESSION, "nothing_to_resume",
                        "no operation of the session \"%s\" is broken off and "
                        "no message was sent to it; call allm_session_reply() "
                        "or allm_session_continue()",
                        store_session_name(d->store));
}

const allm_error *resume_check(allm_session *s, struct arena *a)
{
    if (s->invalid)
        return status_retell(a, s->error);
    if (!s->place)
        return not_in_store(a);
    if (s->open)
        return status_error(
            a, ALLM_ERR_MISUSE, "session_busy",
            "a stream of this session is open; pull it to its end or free it "
            "first");
    const allm_error *error = durable_refresh(s, a);
    return error ? error : place_gone(s->place, a);
}

/* ------------------------------------------------------------ unknown --- */

static const allm_tool *find_tool(const allm_engine_record *r, const char *name)
{
    for (size_t i = 0; r && name && i < r->tool_count; i++)
        if (r->tools[i]->name && !strcmp(r->tools[i]->name, name))
            return r->tools[i];
    return NULL;
}

/* Is it a tool of the library itself, which the engine does not list? */
static bool is_own_tool(const char *name)
{
    return name &&
           (!strcmp(name, TOOL_OUTPUT_NAME) || !strcmp(name, "tool_help"));
}

/* The executor of the call, in `mine`, or that of the engine; NULL: none. */
static const allm_executor *find_executor(const allm_engine *e,
                                          const allm_call_opts *opts,
                                          allm_executor *mine)
{
    allm_call_opts o;
    if (caller_struct_take(&o, sizeof o, opts) && o.executor &&
        caller_struct_take(mine, sizeof *mine, o.executor))
        return mine;
    return engine_core(e)->executor;
}

/* A call is unknown also if its tool is a write today. */
static bool look_at_tools(struct fold *f, const allm_engine *e,
                          const allm_call_opts *opts)
{
    allm_executor mine;
    const allm_executor *x = find_executor(e, opts, &mine);
    allm_engine_record *r = allm_engine_resolve_tools(e, opts);
    bool ok = r && !allm_engine_record_error(r);
    for (size_t i = 0; ok && i < f->call_count; i++) {
        const allm_tool *t = find_tool(r, f->calls[i].name);
        if (!t && x && f->calls[i].name)
            t = executor_tool(x, f->calls[i].name);
        f->calls[i].writes_now = t ? t->effect == ALLM_EFFECT_WRITE
                                   : !is_own_tool(f->calls[i].name);
    }
    allm_engine_record_free(r);
    return ok;
}

/* Workers leave the session alone until somebody has settled the calls. */
static void mark_unknown(struct place *d)
{
    if (!d->taken)
        return;
    struct store_append *p = commit_begin(d);
    if (!p)
        return;
    struct arena a = arena_in(d->mem);
    store_append_columns(p)->waits = "unknown";
    store_append_columns(p)->due = false;
    commit_finish(d, p, &a);
    arena_release(&a);
}

static const allm_error *unsettled_error(struct arena *a, struct place *d)
{
    const struct fold *f = &d->fold;
    if (!fold_count_unknown(f))
        return NULL;
    struct buf ids = buf_in(a, 4096);
    for (size_t i = 0; i < f->call_count; i++)
        if (fold_is_unknown(&f->calls[i]))
            buf_format(&ids, "%s%s (%s)", ids.len ? ", " : "", f->calls[i].id,
                       f->calls[i].name ? f->calls[i].name : "?");
    mark_unknown(d);
    return status_error(
        a, ALLM_ERR_SESSION, "unsettled_tool_calls",
        "these calls began, and it is not known whether they took effect: %s; "
        "find out and call allm_session_settle() for each of them, then "
        "resume",
        ids.ptr ? ids.ptr : "");
}

/* ------------------------------------------------------------ options --- */

/* The recorded options that the call does not set, and the call's own JSON. */
static const allm_error *merge_options(struct replay *r, allm_call_opts *opts)
{
    struct options o;
    const allm_json *recorded = r->place->fold.options;
    if (options_read(&o, r->home, opts))
        return NULL;            /* the call rejects them */
    struct build b = build_object_in(r->arena);
    for (const allm_json *k = NULL; (k = allm_json_next(recorded, k));) {
        if (json_get(o.all, json_slice(k)))
            continue;
        build_entry(&b, k);
    }
    const allm_json *missing = build_finish(&b);
    opts->json = missing && opts->json
                     ? json_merge(r->arena, missing, opts->json)
                     : missing;
    return opts->json ? NULL : status_nomem();
}

/* The user's message that began the operation; ptr NULL: none. */
static struct slice find_input(const struct place *d)
{
    const struct fold *f = &d->fold;
    size_t at = (size_t)(f->keep + f->input);
    const allm_message *m = f->input ? allm_thread_at(d->rows, at - 1) : NULL;
    if (!m || m->role != ALLM_ROLE_USER || !m->text)
        return (struct slice){ NULL, 0 };
    return (struct slice){ m->text, m->text_len };
}

static allm_stream *continue_operation(const allm_engine *e, allm_session *s,
                                       struct replay *r,
                                       const allm_call_opts *opts)
{
    struct place *d = s->place;
    struct operation_plan plan = { .word = d->fold.op ? d->fold.op : "reply",
                                   .thread = d->rows,
                                   .input = find_input(d),
                                   .resumed = &d->fold,
                                   .decided = fold_is_decided(&d->fold) };
    const allm_error *error = NULL;
    allm_thread *before = plan.decided ? approve_thread_before(d->rows) : NULL;
    if (!operation_opts(&plan.opts, s, opts)) {
        allm_thread_free(before);
        return allm_chat(e, d->rows, opts);     /* rejects them */
    }
    error = plan.decided && !before ? status_nomem()
                                    : merge_options(r, &plan.opts);
    if (!error)
        error = replay_make(r);
    plan.opts.replay = &r->out;
    plan.sent = before;
    if (!plan.opts.request_id)
        plan.opts.request_id = d->fold.request_id;
    allm_stream *stream = error ? refused_stream(e, error)
                                : operation_run(e, s, &plan);
    replay_release(r);
    allm_thread_free(before);
    return stream;
}

static allm_stream *resume_open(const allm_engine *e, allm_session *s,
                                const allm_call_opts *opts, struct arena *a)
{
    struct place *d = s->place;
    struct replay r = { .arena = a, .place = d,
                        .home = home_new(s->mem, 0) };
    const allm_error *error = NULL;
    if (!r.home || !look_at_tools(&d->fold, e, opts))
        error = status_nomem();
    if (!error)
        error = unsettled_error(a, d);
    allm_stream *stream = error ? refused_stream(e, error)
                                : continue_operation(e, s, &r, opts);
    home_drop(r.home);
    return stream;
}

/* ------------------------------------------------------ sent messages --- */

struct inbox {
    int64_t id;
    size_t count;
    struct backend_sent *sent;
};

static const allm_error *read_inbox(struct backend *b, struct arena *a,
                                    void *ud)
{
    struct inbox *i = ud;
    return b->ops->inbox(b, a, i->id, &i->count, &i->sent);
}

/* The thread with the messages that were sent; NULL: *error. */
static allm_thread *with_sent(allm_session *s, struct arena *a,
                              const struct inbox *in, const allm_error **error)
{
    const struct store_loaded none = { .row.name =
                                           store_session_name(
                                               s->place->store) };
    struct backend_message *rows = arena_zero(a,
                                              (in->count + 1) * sizeof *rows);
    for (size_t i = 0; rows && i < in->count; i++)
        rows[i].body = in->sent[i].body;
    *error = rows ? NULL : status_nomem();
    allm_thread *sent =
        rows ? durable_thread_plain(a, &none, in->count, rows, error) : NULL;
    if (*error && *error != status_nomem())
        *error = durable_unreadable(a, none.row.name, "a sent message");
    allm_thread *t = sent ? allm_thread_copy(s->record->thread) : NULL;
    size_t n = 0;
    const allm_message *const *all = allm_thread_messages(sent, &n);
    if (t && allm_thread_append_all(t, n, all) != ALLM_OK) {
        allm_thread_free(t);
        t = NULL;
    }
    if (sent && !t)
        *error = status_nomem();
    allm_thread_free(sent);
    return t;
}

static allm_stream *begin_with_sent(const allm_engine *e, allm_session *s,
                                    const allm_call_opts *opts, struct arena *a,
                                    const struct inbox *in)
{
    struct operation_plan plan = { .word = "reply" };
    const allm_error *error = state_forbids(s, SESSION_REPLY, a);
    allm_thread *t = error ? NULL : with_sent(s, a, in, &error);
    if (error)
        return refused_stream(e, error);
    const allm_message *last = allm_thread_last(t);
    plan.thread = t;
    plan.inbox_upto = in->sent[in->count - 1].id;
    if (last && last->text)
        plan.input = (struct slice){ last->text, last->text_len };
    allm_stream *stream = operation_opts(&plan.opts, s, opts)
                              ? operation_run(e, s, &plan)
                              : allm_chat(e, t, opts);
    allm_thread_free(t);
    return stream;
}

static allm_stream *resume_sent(const allm_engine *e, allm_session *s,
                                const allm_call_opts *opts, struct arena *a)
{
    struct place *d = s->place;
    struct inbox in = { .id = d->loaded.row.id };
    const allm_error *error = store_call(store_session_store(d->store),
                                         read_inbox, a, &in);
    if (!error && !in.count)
        error = nothing_error(a, d);
    return error ? refused_stream(e, error)
                 : begin_with_sent(e, s, opts, a, &in);
}

allm_stream *resume_session(const allm_engine *e, allm_session *s,
                            const allm_call_opts *opts)
{
    allm_stream *stream;
    if (!e || !s)
        return refused_missing(e, "invalid_session", "session");
    if (!s->invalid && !s->place && approve_ready(s->record))
        return operation_begin(e, s, SESSION_CONTINUE, NULL, opts);
    struct arena a = arena_in(s->mem);
    const allm_error *error = resume_check(s, &a);
    if (!error)
        error = operation_own_opts(opts, &a);
    if (error || !s->place)     /* it has one without an error */
        stream = refused_stream(e, error);
    else if (s->place->fold.begin)
        stream = resume_open(e, s, opts, &a);
    else if (approve_ready(s->record))
        stream = operation_begin(e, s, SESSION_CONTINUE, NULL, opts);
    else
        stream = resume_sent(e, s, opts, &a);
    arena_release(&a);
    return stream;
}

/* ------------------------------------------------------------- settle --- */

static const allm_error *not_unknown(struct arena *a, const char *id)
{
    return status_error(a, ALLM_ERR_SESSION, "unknown_tool_call_id",
                        "the tool call \"%s\" is not unknown; "
                        "metadata.broken_off.unknown_tool_calls lists those "
                        "that are",
                        id ? id : "");
}

static void put_settled(struct store_append *p, const struct place *d,
                        const struct fold_call *c, allm_settle how,
                        struct slice content)
{
    bool again = how == ALLM_SETTLE_AGAIN;
    struct emit *e = store_append_open(p, again ? "again" : "result", NULL);
    emit_member_uint(e, "turn", d->fold.turn);
    emit_member(e, "id", c->id);
    if (!again) {
        emit_member(e, "key", c->key);
        emit_member_bool(e, "is_error", how == ALLM_SETTLE_NOT_HAPPENED);
        store_append_text(p, "content", content);
        emit_at(e, "reason");
        emit_null(e);
        emit_at(e, "value");
        emit_null(e);
        emit_member_word(e, "by", "caller");
    }
    store_append_close(p);
}

/* Is the call unknown, by its record or by the tools of an earlier resume?  The
 * store remembers that. */
static bool may_settle(const struct place *d, const struct fold_call *c)
{
    const char *waits = d->loaded.row.waits;
    return c && c->begun && !c->done &&
           (fold_is_unknown(c) || (waits && !strcmp(waits, "unknown")));
}

const allm_error *resume_settle(allm_session *s, const char *id,
                                allm_settle how, struct slice content,
                                struct arena *a)
{
    struct place *d = s->place;
    struct fold_call *c = fold_find(&d->fold, id);
    if (!may_settle(d, c))
        return not_unknown(a, id);
    struct store_append *p = commit_begin(d);
    if (!p)
        return status_nomem();
    put_settled(p, d, c, how, content);
    if (fold_count_unknown(&d->fold) == fold_is_unknown(c)) {
        store_append_columns(p)->waits = NULL;
        store_append_columns(p)->due = true;
    }
    const allm_error *error = commit_finish(d, p, a);
    return error ? error : durable_reload(s, a);
}

/* ------------------------------------------------------------ abandon --- */

/* The session as a cancelled operation leaves it; a root, or NULL. */
static allm_session_record *project_abandoned(const struct place *d,
                                              struct arena *a)
{
    const struct fold *f = &d->fold;
    char *input = arena_copy(a, find_input(d));
    allm_thread *t = a->broken ? NULL
                               : thread_first(d->rows, (size_t)f->complete);
    if (!t)
        return NULL;
    const allm_chat_result chat = { .size = sizeof chat, .thread = t,
                                    .step_count = f->step_count,
                                    .halted_reason = HALTED_CANCELLED,
                                    .metadata = json_empty_object() };
    allm_session_record *r = f->op && !strcmp(f->op, "step")
                                 ? project_cancelled(d->before, input)
                                 : project_chat(d->before, &chat, input);
    allm_thread_free(t);
    return project_interrupted(approve_consume(r, f), fold_interrupted(f, a));
}

const allm_error *resume_abandon(allm_session *s, struct arena *a)
{
    struct place *d = s->place;
    if (!d->fold.begin)
        return nothing_error(a, d);
    allm_session_record *r = project_abandoned(d, a);
    struct store_append *p = r ? commit_begin(d) : NULL;
    if (!p) {
        allm_session_record_free(r);
        return status_nomem();
    }
    struct emit *e = store_append_open(p, "end", NULL);
    emit_member_word(e, "halted", HALTED_CANCELLED);
    bool ok = commit_thread(d, p, r->thread, false) && commit_state(p, r);
    store_append_close(p);
    store_append_columns(p)->open = 0;
    store_append_columns(p)->due = false;
    const allm_error *error = NULL;
    if (ok) {
        error = commit_finish(d, p, a);
    } else {
        store_append_free(p);
        d->stale = true;
        error = status_nomem();
    }
    if (error) {
        allm_session_record_free(r);
        return error;
    }
    place_close(d);
    allm_session_record_free(state_replace(s, r));
    return NULL;
}

/* ------------------------------------------------------------- let go --- */

const allm_error *resume_let_go(allm_session *s, struct arena *a)
{
    if (s->invalid)
        return status_retell(a, s->error);
    if (!s->place)
        return not_in_store(a);
    const allm_error *error = place_gone(s->place, a);
    if (error)
        return error;
    bool running = s->operation != NULL;
    if (running)
        operation_let_go(s->operation);
    return store_session_release(s->place->store, a,
                                 running || s->place->fold.begin);
}
