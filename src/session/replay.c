/*
 * replay.c - what a resumed operation needs of its records
 *
 *      fold --> the answer, the calls and the steps so far --> the loop
 */
#include "session/replay.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/response.h"
#include "data/thread.h"
#include "session/approve.h"

static const allm_response *read_response(struct replay *r, const allm_json *v)
{
    struct decoder d;
    decode_init(&d, r->home, r->arena);
    return v ? decode_value(&d, &response_shape, v) : NULL;
}

/* The calls that have begun or are done; NULL: out of memory. */
static const allm_journal_tool *const *list_tools(struct replay *r,
                                                  const struct fold_call *calls,
                                                  size_t count, size_t *out)
{
    const allm_journal_tool **list = arena_zero(r->arena,
                                                (count + 1) * sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        const struct fold_call *c = &calls[i];
        allm_journal_tool *t = arena_zero(r->arena, sizeof *t);
        if (!t)
            return NULL;
        if (!c->begun && !c->done)
            continue;
        *t = (allm_journal_tool){ .size = sizeof *t, .tool_call_id = c->id,
                                  .done = c->done, .is_error = c->is_error,
                                  .content = c->content.ptr,
                                  .content_len = c->content.len,
                                  .reason = c->reason, .value = c->value,
                                  .effect = c->effect };
        list[(*out)++] = t;
    }
    return list;
}

/* The decisions about calls that have not begun, after the others. */
static bool add_decisions(struct replay *r)
{
    const struct place *d = r->place;
    size_t n = r->out.tool_count;
    if (!fold_is_decided(&d->fold) || !d->before)
        return true;
    const allm_journal_tool **list =
        arena_zero(r->arena, (n + approve_count(d->before) + 1) * sizeof *list);
    if (!list)
        return false;
    if (n)
        memcpy(list, r->out.tools, n * sizeof *list);
    r->out.tools = list;
    return approve_list(d->before, &d->fold, r->arena, list,
                        &r->out.tool_count);
}

static bool add_tools(struct replay *r)
{
    const struct fold *f = &r->place->fold;
    r->out.tools = list_tools(r, f->calls, f->call_count, &r->out.tool_count);
    r->out.earlier = list_tools(r, f->earlier, f->earlier_count,
                                &r->out.earlier_count);
    return r->out.tools && r->out.earlier && add_decisions(r);
}

struct as_of {
    uint64_t seq;
    size_t count;
    struct backend_message *rows;
    struct store_loaded loaded;
};

static const allm_error *load_as_of(struct backend *b, struct arena *a,
                                    void *ud)
{
    struct as_of *o = ud;
    struct record_blobs blobs = { .arena = a };
    const allm_error *error =
        store_read_messages(b, a, &o->loaded,
                            (struct backend_range){ .at = o->seq }, &o->count,
                            &o->rows);
    for (size_t i = 0; !error && i < o->count; i++)
        record_find_blobs(o->rows[i].body, &blobs);
    return error ? error : store_read_blobs(b, a, &o->loaded, &blobs);
}

allm_thread *replay_thread_at(struct place *d, struct arena *a, uint64_t seq,
                              const allm_error **error)
{
    struct as_of o = { .seq = seq };
    o.loaded.row.id = d->loaded.row.id;
    o.loaded.row.name = store_session_name(d->store);
    *error = store_call(store_session_store(d->store), load_as_of, a, &o);
    return *error ? NULL : durable_thread(a, &o.loaded, o.count, o.rows, error);
}

/* Are the messages after this step still the first ones of the thread? */
static bool is_prefix(const struct fold *f, size_t index)
{
    for (size_t i = index + 1; i < f->step_count; i++)
        if (f->steps[i].keep < f->steps[index].count)
            return false;
    return true;
}

static allm_thread *thread_after(struct replay *r, size_t index,
                                 const allm_error **error)
{
    struct place *d = r->place;
    const struct fold_step *step = &d->fold.steps[index];
    if (!is_prefix(&d->fold, index) || allm_thread_count(d->rows) < step->count)
        return replay_thread_at(d, r->arena, step->seq, error);
    allm_thread *t = thread_first(d->rows, (size_t)step->count);
    if (!t)
        *error = status_nomem();
    return t;
}

/* Would a step with this answer be the last one? */
static bool is_done(const allm_response *r)
{
    return r && (r->finish_reason == ALLM_FINISH_STOP ||
                 r->finish_reason == ALLM_FINISH_LENGTH ||
                 r->finish_reason == ALLM_FINISH_CONTENT_FILTER ||
                 r->finish_reason == ALLM_FINISH_ERROR);
}

/* The step as it was: its answer, and the results of its tools. */
static const allm_error *add_step(struct replay *r, size_t index,
                                  const allm_step_result **out)
{
    const struct fold_step *from = &r->place->fold.steps[index];
    const allm_error *error = NULL;
    size_t n = 0, results = 0;
    allm_thread *t = thread_after(r, index, &error);
    if (!t)
        return error;
    r->threads[r->thread_count++] = t;
    const allm_message *const *all = allm_thread_messages(t, &n);
    size_t first = from->keep < n ? (size_t)from->keep : n;
    const allm_message **list = arena_zero(r->arena,
                                           (n - first + 1) * sizeof *list);
    allm_step_result *step = arena_zero(r->arena, sizeof *step);
    if (!list || !step)
        return status_nomem();
    for (size_t i = first; i < n; i++)
        if (all[i]->role == ALLM_ROLE_TOOL)
            list[results++] = all[i];
    *step = (allm_step_result){ .size = sizeof *step, .thread = t,
                                .response = read_response(r, from->response),
                                .tool_results = list,
                                .tool_result_count = results };
    step->done = is_done(step->response);
    *out = step;
    return NULL;
}

static const allm_error *add_steps(struct replay *r)
{
    const struct fold *f = &r->place->fold;
    const allm_error *error = NULL;
    const allm_step_result **list =
        arena_zero(r->arena, (f->step_count + 1) * sizeof *list);
    r->threads = arena_zero(r->arena, (f->step_count + 1) * sizeof *r->threads);
    if (!list || !r->threads)
        return status_nomem();
    for (size_t i = 0; !error && i < f->step_count; i++)
        error = add_step(r, i, &list[i]);
    r->out.steps = list;
    r->out.step_count = f->step_count;
    return error;
}

const allm_error *replay_make(struct replay *r)
{
    const struct fold *f = &r->place->fold;
    r->out = (allm_journal_replay){ .size = sizeof r->out, .turn = f->turn,
                                    .pass = f->pass, .counts = f->counts,
                                    .response = read_response(r, f->response) };
    if (!add_tools(r))
        return status_nomem();
    return add_steps(r);
}

void replay_release(struct replay *r)
{
    for (size_t i = 0; i < r->thread_count; i++)
        allm_thread_free(r->threads[i]);
    r->thread_count = 0;
}
