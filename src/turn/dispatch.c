/*
 * dispatch.c - the fourth stage: run the tools and collect their results
 *
 *      calls --> manual calls     left to the caller, as are those that a
 *                                 gate leaves undecided
 *            --> replayed calls   their results come from a journal, or the
 *                                 decisions whether they run
 *            --> other calls      one batch, pulled event by event
 *
 * Calls that an earlier stage rejected have the same events as those that run,
 * so a fold over the events sees every result.
 */
#include "turn/dispatch.h"

#include "data/chat_result.h"
#include "data/decode.h"
#include "data/error.h"
#include "tool/compact.h"
#include "tool/cut.h"
#include "turn/pipeline.h"

void dispatch_stop(struct turn_tools *t)
{
    if (t->batch)
        batch_stop(t->batch);
}

void dispatch_release(struct turn_tools *t)
{
    batch_free(t->batch);
    t->batch = NULL;
}

/* Queue the event that ends a call, with its result. */
static void queue_end(allm_context *c, const struct tool_result *r)
{
    struct turn_event *e = context_queue(c);
    if (!e)
        return;
    if (!result_ended(r, c->arena, &e->event))
        c->broken = true;
    e->result = r;
    context_halt(c, r);
}

static void queue_all(allm_context *c, const struct tool_result *r)
{
    struct turn_event *started = context_queue(c);
    struct turn_event *completed = context_queue(c);
    if (!started || !completed)
        return;
    result_started(r, &started->event);
    if (!result_completed(r, c->arena, &completed->event))
        c->broken = true;
    queue_end(c, r);
}

/* Queue the results of earlier stages; their calls do not run. */
static void queue_rejected(allm_context *c)
{
    for (size_t i = 0; i < c->result_count; i++) {
        struct tool_result *r = arena_alloc(c->arena, sizeof *r);
        if (!r)
            return;             /* the arena is broken now */
        *r = *result_of_view(c->results[i]);
        r->view.rejected = 1;
        c->results[i] = &r->view;
        queue_all(c, r);
    }
}

static const allm_journal_tool *find_replayed(const struct turn_tools *t,
                                              const char *id)
{
    const allm_journal_replay *r = t->replay;
    for (size_t i = 0; r && i < r->tool_count; i++)
        if (!r->tools[i]->decided && !strcmp(r->tools[i]->tool_call_id, id))
            return r->tools[i];
    return NULL;
}

/* What was decided about a call that has not begun. */
static struct batch_decision find_decision(const struct turn_tools *t,
                                           const char *id)
{
    const allm_journal_replay *r = t->replay;
    for (size_t i = 0; r && i < r->tool_count; i++)
        if (r->tools[i]->decided && !strcmp(r->tools[i]->tool_call_id, id))
            return (struct batch_decision){
                r->tools[i]->decided,
                r->tools[i]->content_len ? r->tools[i]->content : NULL,
                r->tools[i]->value
            };
    return (struct batch_decision){ 0 };
}

static bool fill_decisions(const allm_context *c, size_t n,
                           const allm_tool_call **calls)
{
    struct turn_tools *t = c->runner;
    struct batch_decision *list =
        t->replay ? arena_zero(c->arena, (n + 1) * sizeof *list) : NULL;
    for (size_t i = 0; list && i < n; i++)
        list[i] = find_decision(t, calls[i]->id);
    t->opts.decisions = list;
    return list || !t->replay;
}

bool dispatch_began(const struct turn_tools *t, const char *call_id)
{
    return t && find_replayed(t, call_id);
}

/* Cut the content of a recorded result like that of a fresh one.  ptr NULL: out
 * of memory. */
static struct slice cut_replayed(const allm_context *c,
                                 const allm_tool_call *call,
                                 const allm_journal_tool *old)
{
    const struct batch_opts *o = &c->runner->opts;
    struct slice whole = { old->content, old->content_len };
    struct slice content = cut_text(c->arena, whole, o->max_output);
    if (content.ptr != whole.ptr && o->keep_whole &&
        !o->keep_whole(o->keep_ud, call->id, whole))
        content.ptr = NULL;
    return content;
}

/* The error of a recorded failure that halted the chat; NULL: not recorded. */
static const allm_error *replay_error(allm_context *c,
                                      const allm_journal_tool *old)
{
    struct decoder d;
    if (strcmp(old->reason, HALTED_TOOL_ERROR) != 0 || !old->value)
        return NULL;
    decode_init(&d, c->runner->home, c->arena);
    return decode_value(&d, &error_shape, old->value);
}

/* Create the result of a call from the journal. */
static void replay_result(allm_context *c, const allm_tool_call *call,
                          const allm_journal_tool *old)
{
    bool ask = old->reason && !strcmp(old->reason, HALTED_ASK_USER);
    struct slice content = ask ? SLICE(OUTCOME_AWAITING)
                               : cut_replayed(c, call, old);
    struct tool_result *r = NULL;
    if (content.ptr)
        r = context_new_result(c, call, content, old->is_error,
                               old->reason ? NULL : old->value);
    if (!r) {
        c->broken = true;
        return;
    }
    r->halts = old->reason != NULL;
    if (!r->halts) {
        queue_all(c, r);
        return;
    }
    r->outcome = ask ? outcome_question(old->content, old->value)
                     : outcome_from_halt(old->reason, old->value);
    r->error = replay_error(c, old);
    if (r->error)
        r->outcome.value = NULL;        /* It is the error. */
    queue_end(c, r);
}

/* Was it a write that began and may or may not have ended?  It must not run
 * again. */
static bool is_unknown(const allm_context *c, const char *name,
                       const allm_journal_tool *old)
{
    const allm_tool *tool = context_tool(c, name, NULL);
    bool help = compact_names_help(name, c->tool_count, c->tools);
    allm_effect now = tool   ? tool->effect
                      : help ? ALLM_EFFECT_PURE
                             : ALLM_EFFECT_WRITE;   /* not declared */
    return old && !old->done &&
           (old->effect == ALLM_EFFECT_WRITE || now == ALLM_EFFECT_WRITE);
}

/* Is this call left to the caller? */
static bool is_manual(allm_context *c, const allm_tool_call *call,
                      const allm_journal_tool *old)
{
    struct turn_tools *t = c->runner;
    const allm_tool *tool = context_tool(c, call->name, NULL);
    bool unknown = is_unknown(c, call->name, old);
    if (unknown)
        t->unknown[t->unknown_count++] = call;
    if (!unknown && !(tool && tool->manual))
        return false;
    c->manual[c->manual_count++] = call;
    return true;
}

/* Separate the calls: manual ones, replayed ones, and those that run, which
 * are put into `mine`.  Returns the number of the last. */
static size_t sort_calls(allm_context *c, const allm_tool_call **mine,
                         const allm_tool_call **handled)
{
    size_t n = 0, all = 0;
    for (size_t i = 0; i < c->call_count; i++) {
        const allm_tool_call *call = c->calls[i];
        const allm_journal_tool *old = find_replayed(c->runner, call->id);
        bool done = old && old->done;
        if (!done && is_manual(c, call, old))
            continue;
        handled[all++] = call;
        if (done)
            replay_result(c, call, old);
        else
            mine[n++] = call;
    }
    c->calls = c->runner->handled = handled;
    c->call_count = all;
    return n;
}

/* The positions of the calls in the answer, which has them in this order. */
static void fill_indexes(const allm_context *c, size_t n,
                         const allm_tool_call **calls, size_t *indexes)
{
    const allm_response *r = c->response;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        while (at < r->tool_call_count && r->tool_calls[at] != calls[i])
            at++;
        indexes[i] = at < r->tool_call_count ? at
                                             : context_index(c, calls[i]->id);
    }
}

static allm_status begin_batch(allm_context *c, size_t n,
                               const allm_tool_call **calls)
{
    struct turn_tools *t = c->runner;
    size_t *indexes = arena_alloc(c->arena, (n + 1) * sizeof *indexes);
    if (!indexes || !fill_decisions(c, n, calls))
        return ALLM_ERR_NOMEM;
    fill_indexes(c, n, calls, indexes);
    t->opts.indexes = indexes;
    t->batch = batch_new(&t->env, n, calls, c->tool_count, c->tools, &t->opts);
    if (!t->batch)
        return ALLM_ERR_NOMEM;
    return batch_error(t->batch) ? allm_context_fail(c, batch_error(t->batch))
                                 : ALLM_OK;
}

static allm_status begin_dispatch(allm_context *c)
{
    struct turn_tools *t = c->runner;
    size_t room = (c->call_count + 1) * sizeof(void *);
    const allm_tool_call **mine = arena_alloc(c->arena, room);
    const allm_tool_call **handled = t->replay ? arena_alloc(c->arena, room)
                                               : mine;
    c->manual = arena_alloc(c->arena, room);
    t->unknown = arena_alloc(c->arena, room);
    t->left = arena_alloc(c->arena, room);
    t->begun = true;
    if (!mine || !handled || !c->manual || !t->unknown || !t->left)
        return ALLM_ERR_NOMEM;
    queue_rejected(c);
    size_t n = sort_calls(c, mine, handled);
    allm_status status = n ? begin_batch(c, n, mine) : ALLM_OK;
    if (status < 0)
        return status;
    return c->events ? ALLM_EVENT : ALLM_OK;
}

/* A gate left this call undecided: leave it to the caller. */
static void leave_call(allm_context *c, const struct allm_approval *approval)
{
    struct turn_tools *t = c->runner;
    size_t n = 0;
    for (size_t i = 0; i < c->call_count; i++)
        if (strcmp(c->calls[i]->id, approval->call->id) != 0)
            t->handled[n++] = c->calls[i];
        else
            c->manual[c->manual_count++] = c->calls[i];
    c->calls = t->handled;
    c->call_count = n;
    t->left[t->left_count++] = approval;
}

/* All calls have ended: add their results to the context. */
static allm_status take_results(allm_context *c)
{
    struct batch *b = c->runner->batch;
    size_t n = batch_count(b);
    for (size_t i = 0; i < n; i++) {
        const struct allm_approval *approval = batch_left(b, i);
        if (approval)
            leave_call(c, approval);
        else if (!context_push_result(c, batch_at(b, i)))
            return ALLM_ERR_NOMEM;
    }
    context_note_n(c, "dispatch", (int64_t)c->call_count);
    return c->broken ? ALLM_ERR_NOMEM : ALLM_OK;
}

/* Queue an event of the batch, with the result of the call that it ends. */
static allm_status pass_event(allm_context *c, const allm_event *event)
{
    struct turn_tools *t = c->runner;
    struct turn_event *mine = context_queue(c);
    if (!mine)
        return ALLM_ERR_NOMEM;
    mine->event = *event;
    mine->result = batch_ended(t->batch);
    if (mine->result)
        context_halt(c, mine->result);
    return ALLM_EVENT;
}

allm_status dispatch_run(allm_context *c, void *ud)
{
    struct turn_tools *t = c->runner;
    allm_event *event = NULL;
    (void)ud;
    if (!t->begun) {
        allm_status status = begin_dispatch(c);
        if (status != ALLM_OK)
            return status;
    }
    if (!t->batch)
        return take_results(c);
    allm_status status = batch_next(t->batch, &event, &c->again_ns);
    if (status == ALLM_EVENT)
        return pass_event(c, event);
    if (status < 0 && batch_error(t->batch))
        return allm_context_fail(c, batch_error(t->batch));
    return status == ALLM_OK ? take_results(c) : status;
}
