/*
 * dispatch.c - the fourth stage: run the tools and collect their results
 *
 *      calls --> manual calls     left to the caller
 *            --> replayed calls   their results come from a journal
 *            --> other calls      one batch, pulled event by event
 *
 * Calls that an earlier stage rejected have the same events as those that run,
 * so a fold over the events sees every result.
 */
#include "turn/dispatch.h"

#include "base/status.h"
#include "data/chat_result.h"
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
        if (!strcmp(r->tools[i]->tool_call_id, id))
            return r->tools[i];
    return NULL;
}

/* Create the result of a call from the journal. */
static void replay_result(allm_context *c, const allm_tool_call *call,
                          const allm_journal_tool *old)
{
    struct slice content = old->content_len ? (struct slice){ old->content,
                                                 old->content_len }
                                            : slice_of(old->content);
    bool ask = old->reason && !strcmp(old->reason, HALTED_ASK_USER);
    if (ask)
        content = SLICE(OUTCOME_AWAITING);
    struct tool_result *r = context_new_result(c, call, content, old->is_error);
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
    queue_end(c, r);
}

/* Was it a write that began and may or may not have ended?  It must not run
 * again. */
static bool is_unknown(const allm_journal_tool *old, const allm_tool *tool)
{
    return old && !old->done && tool && tool->effect == ALLM_EFFECT_WRITE;
}

/* Must the function of this call run?  If not, replay it or leave it to the
 * caller. */
static bool runs_now(allm_context *c, const allm_tool_call *call)
{
    struct turn_tools *t = c->runner;
    const allm_tool *tool = context_tool(c, call->name, NULL);
    const allm_journal_tool *old = find_replayed(t, call->id);
    if (old && old->done) {
        replay_result(c, call, old);
        return false;
    }
    if (is_unknown(old, tool))
        t->unknown[t->unknown_count++] = call;
    if (is_unknown(old, tool) || (tool && tool->manual)) {
        c->manual[c->manual_count++] = call;
        return false;
    }
    return true;
}

static allm_status announce_calls(const struct turn_tools *t,
                                  const allm_context *c, size_t n,
                                  const allm_tool_call **calls)
{
    allm_status status = ALLM_OK;
    for (size_t i = 0; t->intent && status == ALLM_OK && i < n; i++)
        status = t->intent(t->ud, calls[i],
                           context_tool(c, calls[i]->name, NULL));
    return status;
}

static allm_status begin_dispatch(allm_context *c)
{
    struct turn_tools *t = c->runner;
    size_t n = 0, room = (c->call_count + 1) * sizeof(void *);
    const allm_tool_call **mine = arena_alloc(c->arena, room);
    c->manual = arena_alloc(c->arena, room);
    t->unknown = arena_alloc(c->arena, room);
    t->begun = true;
    if (!mine || !c->manual || !t->unknown)
        return ALLM_ERR_NOMEM;
    queue_rejected(c);
    for (size_t i = 0; i < c->call_count; i++)
        if (runs_now(c, c->calls[i]))
            mine[n++] = c->calls[i];
    allm_status status = announce_calls(t, c, n, mine);
    if (status < 0)
        return status;
    if (n) {
        t->batch = batch_new(&t->env, n, mine, c->tool_count, c->tools,
                             &t->opts);
        if (!t->batch)
            return ALLM_ERR_NOMEM;
        if (batch_error(t->batch))
            return allm_context_fail(c, batch_error(t->batch));
    }
    c->calls = mine;
    c->call_count = n;
    return c->events ? ALLM_EVENT : ALLM_OK;
}

/* All calls have ended: add their results to the context. */
static allm_status take_results(allm_context *c)
{
    struct batch *b = c->runner->batch;
    size_t n = batch_count(b);
    for (size_t i = 0; i < n; i++)
        if (!context_push_result(c, batch_at(b, i)))
            return ALLM_ERR_NOMEM;
    context_note_n(c, "dispatch", (int64_t)n);
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
    if (!mine->result)
        return ALLM_EVENT;
    context_halt(c, mine->result);
    allm_status status = t->settled ? t->settled(t->ud, mine->result) : ALLM_OK;
    return status < 0 ? status : ALLM_EVENT;
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
