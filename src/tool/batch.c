/*
 * batch.c - run the tool calls of one turn
 *
 *      WAITING --(announced)--> RUNNING --> READY --> DONE
 *
 * With a journal (record.c), a call waits until its intent is written, and is
 * SETTLED and RECORDED between READY and DONE.  With a gate (gate.c), a call
 * waits until it is allowed.
 *
 * Each call has three events: started, completed, and one of encoded, ask_user
 * and halt.
 *
 * Invariants
 *   (1) Calls start in the order of the turn, as many at a time as the limit
 *       allows; a call that waits for a gate is overtaken.  None is cancelled
 *       because another fails, times out or halts.
 *   (2) The three events of a call are emitted together, in the order in which
 *       the calls are answered; with live events the first one is emitted when
 *       the call starts.
 *   (3) Results are in the order of the calls, and each has a message.
 *   (4) on_tool_error is called once for each failure, by the thread that
 *       pulls, after the call has ended; its timeout no longer applies.
 */
#include "tool/batch.h"

#include "base/buf.h"
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/tool.h"
#include "data/tool_call.h"
#include "tool/arguments.h"
#include "tool/batch_parts.h"
#include "tool/compact.h"
#include "tool/executor.h"
#include "tool/recipe.h"
#include "tool/run.h"
#include "json/build.h"
#include "json/json.h"

#include <unistd.h>

static const allm_tool *find_called_tool(const struct batch *b,
                                         const char *name)
{
    return name ? tool_find(b->tool_count, b->tools, name) : NULL;
}

static bool reject_misuse(struct batch *b, const char *message)
{
    b->error = status_error(b->arena, ALLM_ERR_MISUSE, "invalid_option", "%s",
                            message);
    return false;
}

static bool check_opts(struct batch *b)
{
    if ((unsigned)b->opts.policy > ALLM_TOOL_POLICY_CALLBACK)
        return reject_misuse(
            b, "on_tool_error must be continue, halt or callback");
    if (b->opts.policy == ALLM_TOOL_POLICY_CALLBACK && !b->opts.on_error)
        return reject_misuse(b,
                             "on_tool_error is a callback, but the function is "
                             "NULL; set on_error(run, error, ud)");
    if (b->opts.encoder &&
        !(MEM_REACHES(b->opts.encoder, encode) && b->opts.encoder->encode))
        return reject_misuse(b, "the encoder needs its size and encode()");
    if (b->opts.gate && !(MEM_REACHES(b->opts.gate, ud) && b->opts.gate->ask))
        return reject_misuse(b, "the gate needs its size and ask()");
    return true;
}

/* An abandoned function may begin after the caller's executor is freed. */
static bool copy_executor(struct batch *b)
{
    if (!b->opts.executor)
        return true;
    allm_executor *mine = arena_zero(b->arena, sizeof *mine);
    if (!mine)
        return batch_no_memory(b);
    if (!caller_struct_take(mine, sizeof *mine, b->opts.executor) ||
        !mine->execute)
        return reject_misuse(b, "the executor needs its size and execute()");
    b->opts.executor = mine;
    return true;
}

static bool copy_tools(struct batch *b, size_t count,
                       const allm_tool *const *tools)
{
    b->tools = arena_alloc(b->arena, (count + 1) * sizeof *b->tools);
    if (!b->tools)
        return batch_no_memory(b);
    for (size_t i = 0; i < count; i++) {
        b->tools[i] = shape_copy(b->shared->home, &tool_shape, tools[i],
                                 &b->error);
        if (!b->tools[i])
            return false;
        b->tool_count++;
    }
    return true;
}

/* PREFIX/TURN/INDEX or PREFIX/TURN/ID; NULL: calls have no keys, or out of
 * memory. */
static const char *make_key(struct batch *b, const char *id, size_t index)
{
    const struct tool_env *env = &b->shared->env;
    if (!env->key_prefix)
        return NULL;
    struct buf key = buf_in(b->arena, SIZE_MAX / 2);
    buf_text(&key, env->key_prefix);
    buf_format(&key, "/%u/", (unsigned)env->key_turn);
    if (env->key_by_index)
        buf_format(&key, "%zu", index);
    else
        buf_text(&key, id);
    return key.broken ? NULL : key.ptr;
}

static void take_decision(struct slot *s, const struct batch_decision *d,
                          struct arena *a)
{
    if (!d->decided)
        return;
    s->decided = true;
    s->verdict = d->decided == 1 ? VERDICT_ALLOWED : VERDICT_DENIED;
    s->why = arena_text(a, d->why);
    s->reach = d->reach ? json_copy(a, d->reach) : NULL;
}

static bool copy_calls(struct batch *b, size_t count,
                       const allm_tool_call *const *calls)
{
    b->slots = arena_zero(b->arena, (count + 1) * sizeof *b->slots);
    b->order = arena_alloc(b->arena, (count + 1) * sizeof(struct slot *));
    if (!b->slots || !b->order)
        return batch_no_memory(b);
    for (size_t i = 0; i < count; i++) {
        struct slot *s = &b->slots[i];
        if (!calls[i])
            return reject_misuse(b, "a tool call is NULL");
        const allm_tool_call *call =
            shape_copy(b->shared->home, &tool_call_shape, calls[i], &b->error);
        if (!call)
            return false;
        if (!call->id || !call->name)
            return reject_misuse(b, "a tool call needs an id and a name");
        s->result.view.call = call;
        s->result.arguments = call->arguments ? call->arguments
                                              : json_empty_object();
        s->result.tool = find_called_tool(b, call->name);
        s->result.index = b->opts.indexes ? b->opts.indexes[i] : i;
        s->result.key = make_key(b, call->id, s->result.index);
        s->is_help = compact_names_help(call->name, b->tool_count, b->tools);
        if (b->opts.decisions)
            take_decision(s, &b->opts.decisions[i], b->arena);
        b->order[b->count++] = s;
    }
    b->ordered = b->count;
    return b->arena->broken ? batch_no_memory(b) : true;
}

const allm_error *batch_unknown_tool(struct arena *a, const char *name)
{
    allm_error *e = status_draft(a, ALLM_ERR_ENGINE, "unknown_tool",
                                 "the model called the tool \"%s\", which is "
                                 "not among the engine's tools; add it with "
                                 "allm_engine_put_tool()",
                                 name);
    struct build meta = build_object_in(a);
    build_text_at(&meta, "tool_name", slice_of(name));
    build_end(&meta);
    if (!e)
        return NULL;
    e->metadata = build_done(&meta);
    return e->metadata ? e : NULL;
}

static bool reject_unknown_tool(struct batch *b, const char *name)
{
    b->error = batch_unknown_tool(b->arena, name);
    return b->error ? false : batch_no_memory(b);
}

/* If one name is unknown, no tool runs. */
static bool check_names(struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (!b->slots[i].result.tool && !b->slots[i].is_help)
            return reject_unknown_tool(b, b->slots[i].result.view.call->name);
    return true;
}

static int64_t timeout_of(const struct batch_opts *opts)
{
    int64_t ms = opts->timeout_ms ? opts->timeout_ms : BATCH_TIMEOUT_MS;
    return opts->timeout_ms == UINT32_MAX ? INT64_MAX : ms * 1000000;
}

struct batch *batch_new(const struct tool_env *env, size_t count,
                        const allm_tool_call *const *calls, size_t tool_count,
                        const allm_tool *const *tools,
                        const struct batch_opts *opts)
{
    struct batch_shared *shared = batch_shared_new(env);
    struct batch *b = shared ? arena_zero(home_arena(shared->home), sizeof *b)
                             : NULL;
    if (!b) {
        batch_shared_drop(shared);
        return NULL;
    }
    b->shared = shared;
    b->arena = home_arena(shared->home);
    if (opts)
        b->opts = *opts;
    b->timeout_ns = timeout_of(&b->opts);
    if (check_opts(b) && copy_executor(b) && copy_tools(b, tool_count, tools) &&
        copy_calls(b, count, calls))
        check_names(b);
    return b;
}

/* Set an outcome that needs no further run; the stamp gives its place in the
 * order of answers. */
static void make_ready(struct batch *b, struct slot *s, struct outcome o)
{
    s->result.outcome = o;
    pthread_mutex_lock(&b->shared->lock);
    s->stamp = ++b->shared->stamps;
    pthread_mutex_unlock(&b->shared->lock);
    if (s->state == RUNNING)
        b->running--;
    s->state = READY;
}

/* The outcome of tool_help. */
static struct outcome help_outcome(struct batch *b, const struct slot *s)
{
    struct slice text = compact_help(b->arena, b->tool_count, b->tools,
                                     s->result.arguments);
    const allm_json *value = text.ptr ? build_alone(b->arena, text) : NULL;
    return (struct outcome){ .kind = value ? OUTCOME_RESULT : OUTCOME_NOMEM,
                             .value = value };
}

/* Run the tool itself, without a recipe. */
static void start_run(struct batch *b, struct slot *s)
{
    bool known = true;
    const char *name = s->result.view.call->name;
    if (!compact_is_reader(s->result.tool))
        s->run->executor = executor_pick(b->opts.executor, name, &known);
    if (known)
        run_start(s->run);
    else
        run_fail(s->run, FAILURE_NOT_FOUND, DETAIL_NO_EXECUTOR);
}

static void trace_step(void *ud, const allm_tool_call *call, const char *label,
                       const char *phase)
{
    const struct batch_trace *t = ud;
    t->step(t->ud, call, label, phase);
}

static void start_recipe(struct batch *b, struct slot *s,
                         const allm_recipe *recipe)
{
    const struct recipe_opts opts = {
        .executor = b->opts.executor,
        .tool_count = b->tool_count,
        .tools = b->tools,
        .timeout_ns = b->timeout_ns,
        .trace = b->opts.trace.step ? trace_step : NULL,
        .trace_ud = &b->opts.trace,
    };
    s->recipe = recipe_new(s->run, recipe, &opts);
    if (!s->recipe)
        batch_no_memory(b);
}

/* Find an outcome that needs no function; false: the function must run. */
static bool decide_early(struct batch *b, struct slot *s, struct outcome *o)
{
    const allm_tool *tool = s->result.tool;
    struct slice text;
    if (!arguments_check(b->arena, s->result.view.call, tool,
                         b->opts.by_schema && !s->is_help, &s->result.arguments,
                         o))
        return true;
    if (s->is_help) {
        *o = help_outcome(b, s);
        return true;
    }
    if (!tool->compact)
        return false;
    if (!compact_missing(b->arena, tool, s->result.arguments, &text))
        text.ptr = NULL;
    *o = outcome_reported(text.ptr ? build_alone(b->arena, text) : NULL);
    return !text.ptr || text.len > 0;
}

bool batch_is_late(const struct batch *b)
{
    int64_t last = b->opts.late_ns ? *b->opts.late_ns : INT64_MAX;
    return last < INT64_MAX && clock_now_ns(b->shared->env.clock) >= last;
}

static struct outcome late_outcome(struct batch *b, const char *what)
{
    b->timed_out = true;
    return outcome_failed(
        b->arena, FAILURE_TIMEOUT,
        "the timeout of the whole call (total_ms) is over; %s", what);
}

bool batch_decide_early(struct batch *b, struct slot *s, struct outcome *o)
{
    if (s->verdict == VERDICT_DENIED) {
        const char *why = s->approval ? s->approval->why : s->why;
        *o = outcome_failed(b->arena, FAILURE_DENIED, "%s",
                            why ? why : DETAIL_DENIED);
        return true;
    }
    if (!batch_is_late(b))
        return decide_early(b, s, o);
    *o = late_outcome(b, "the function was not called");
    return true;
}

/* With a journal, record.c has decided already. */
static bool is_decided(struct batch *b, struct slot *s, struct outcome *o)
{
    if (batch_has_journal(b) && s->early) {
        *o = s->result.outcome;
        return true;
    }
    if (batch_has_journal(b) && !batch_is_late(b))
        return false;
    return batch_decide_early(b, s, o);
}

static void start_slot(struct batch *b, struct slot *s)
{
    const struct batch_trace *t = &b->opts.trace;
    struct outcome o;
    if (t->start)
        t->start(t->ud, (size_t)(s - b->slots), s->result.view.call,
                 s->result.tool);
    if (is_decided(b, s, &o)) {
        make_ready(b, s, o);
        return;
    }
    s->run = run_new(b->shared, s->result.view.call, s->result.arguments,
                     s->result.tool, NULL);
    if (!s->run) {
        batch_no_memory(b);
        return;
    }
    s->run->key = s->result.key;
    s->run->decided = s->decided;
    s->run->decided_reach = s->reach;
    s->run->passed = s->approval ? s->approval->passed : NULL;
    s->state = RUNNING;
    b->running++;
    allm_recipe recipe = executor_recipe(b->opts.executor,
                                         s->result.view.call->name);
    if (recipe.fn && !compact_is_reader(s->result.tool))
        start_recipe(b, s, &recipe);
    else
        start_run(b, s);
}

/* Computed only when several calls run at once: instant tools never need it. */
static size_t concurrency_limit(struct batch *b)
{
    if (!b->limit)
        b->limit = b->opts.max_concurrency;
    if (!b->limit) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        b->limit = cpus > 0 ? 2 * (size_t)cpus : 2;
    }
    return b->limit;
}

/* With live events a call is open until its last event is emitted. */
bool batch_has_room(struct batch *b, size_t place, size_t more)
{
    size_t open = b->opts.live_events ? place - b->done : b->running + more;
    return gate_bring(b, place) && (!open || open < concurrency_limit(b));
}

/* May the next call begin? */
static bool may_start(struct batch *b)
{
    return batch_has_journal(b) ? b->next < b->cleared
                                : batch_has_room(b, b->next, 0);
}

static void poll_recipe(struct batch *b, struct slot *s, int64_t *again_ns)
{
    struct outcome o;
    if (recipe_poll(s->recipe, &o, again_ns) != ALLM_EVENT)
        return;
    s->recipe = NULL;
    if (o.kind == OUTCOME_NONE)
        start_run(b, s);        /* the tool itself */
    else
        make_ready(b, s, o);
}

static void poll_slot(struct batch *b, struct slot *s, int64_t *again_ns)
{
    if (s->recipe)
        poll_recipe(b, s, again_ns);
    if (s->recipe || s->state != RUNNING)
        return;
    if (run_poll(s->run, b->timeout_ns, again_ns) != ALLM_EVENT)
        return;
    s->result.outcome = s->run->outcome;
    s->stamp = s->run->stamp;
    s->state = READY;
    b->running--;
}

static void poll_running(struct batch *b, int64_t *again_ns)
{
    for (size_t i = 0; b->running && !b->error && i < b->next; i++)
        if (b->order[i]->state == RUNNING)
            poll_slot(b, b->order[i], again_ns);
}

/* The deadline has passed for this call; an answer that is ready counts. */
static void expire_slot(struct batch *b, struct slot *s, int64_t *again_ns)
{
    struct outcome o = late_outcome(b, "the function was given up");
    if (s->recipe) {
        recipe_abandon(s->recipe);
        s->recipe = NULL;
        make_ready(b, s, o);
        return;
    }
    run_expire(s->run, o);
    poll_slot(b, s, again_ns);
}

static void expire_running(struct batch *b, int64_t *again_ns)
{
    if (batch_is_late(b))
        for (size_t i = 0; b->running && !b->error && i < b->next; i++)
            if (b->order[i]->state == RUNNING)
                expire_slot(b, b->order[i], again_ns);
    if (b->running && b->opts.late_ns && *b->opts.late_ns < *again_ns)
        *again_ns = *b->opts.late_ns;
}

struct slot *batch_first(struct batch *b, enum state state)
{
    struct slot *first = NULL;
    for (size_t i = 0; i < b->next; i++) {
        struct slot *s = b->order[i];
        if (s->state == state && (!first || s->stamp < first->stamp))
            first = s;
    }
    return first;
}

static void trace_end(struct batch *b, const struct slot *s)
{
    const struct batch_trace *t = &b->opts.trace;
    if (t->stop)
        t->stop(t->ud, (size_t)(s - b->slots), &s->result.outcome,
                s->result.error);
}

void batch_settle(struct batch *b, struct slot *s)
{
    struct tool_result *r = &s->result;
    if (r->outcome.kind == OUTCOME_FAILURE)
        r->error = outcome_error(b->arena, &r->outcome, r->view.call->name,
                                 r->view.call->id);
    if (r->outcome.kind == OUTCOME_NOMEM ||
        (r->outcome.kind == OUTCOME_FAILURE && !r->error)) {
        batch_no_memory(b);
        return;
    }
    trace_end(b, s);
    settle_slot(b, s);
    s->state = SETTLED;
}

/* Emit the events of the call that was answered first; false: there is none. */
static bool end_next_call(struct batch *b)
{
    bool recorded = batch_has_journal(b);
    struct slot *s = batch_first(b, recorded ? RECORDED : READY);
    if (!s)
        return false;
    if (!recorded)
        batch_settle(b, s);
    if (b->error)
        return true;
    s->state = DONE;
    s->result.done = true;
    b->done++;
    b->ending = s;
    b->next_event = b->opts.live_events ? 1 : 0;
    return true;
}

/* The next of the three events: keeps (2). */
static void emit_next_event(struct batch *b)
{
    const struct tool_result *r = &b->ending->result;
    bool made = true;
    switch (b->next_event++) {
    case 0:
        result_started(r, &b->event);
        break;
    case 1:
        made = result_completed(r, b->arena, &b->event);
        break;
    default:
        made = result_ended(r, b->arena, &b->event);
        b->ending = NULL;
        b->ended = r;
        break;
    }
    if (!made)
        batch_no_memory(b);
}

/* No tool ran: an unknown tool is one event, any other error a status. */
static allm_status emit_error(struct batch *b, allm_event **event)
{
    if (b->error->kind != ALLM_ERR_ENGINE)
        return b->error->kind;
    if (b->error_emitted)
        return ALLM_OK;
    b->error_emitted = true;
    b->event = (allm_event){ .size = sizeof b->event, .type = ALLM_EV_ERROR,
                             .error = b->error };
    *event = &b->event;
    return ALLM_EVENT;
}

/* Start the calls that may start: keeps (1).  True: emit a live event first. */
static bool start_calls(struct batch *b)
{
    while (!b->error && may_start(b)) {
        struct slot *s = b->order[b->next];
        if (b->opts.live_events && s->state == WAITING) {
            s->state = ANNOUNCED;
            result_started(&s->result, &b->event);
            return true;
        }
        b->next++;
        start_slot(b, s);
    }
    return false;
}

allm_status batch_next(struct batch *b, allm_event **event, int64_t *again_ns)
{
    while (!b->error && !b->stopped) {
        int64_t again = INT64_MAX;
        bool emitted = b->ending != NULL;
        bool open = gate_poll(b, &again);
        b->ended = NULL;
        if (emitted)
            emit_next_event(b);
        else if (open)
            emitted = start_calls(b);
        if (emitted) {
            *event = &b->event;
            if (b->error)
                break;
            return ALLM_EVENT;
        }
        poll_running(b, &again);
        expire_running(b, &again);
        if (batch_has_journal(b) && open)
            record_calls(b, &again);
        if (b->error || (open && may_start(b)) || end_next_call(b))
            continue;
        if (b->done == b->ordered)
            return ALLM_OK;
        *again_ns = again;
        return ALLM_AGAIN;
    }
    return b->error ? emit_error(b, event) : ALLM_OK;
}

void batch_stop(struct batch *b)
{
    b->stopped = true;
    batch_shared_close(b->shared);
    for (size_t i = 0; i < b->next; i++) {
        struct slot *s = b->order[i];
        if (s->state == RUNNING && s->recipe)
            recipe_abandon(s->recipe);
        else if (s->state == RUNNING && s->run)
            run_abandon(s->run);
    }
}

void batch_free(struct batch *b)
{
    if (!b)
        return;
    if (!b->stopped)
        batch_stop(b);
    for (size_t i = 0; i < b->count; i++)
        shape_free((void *)(uintptr_t)b->slots[i].result.message);
    batch_shared_drop(b->shared);
}

const allm_error *batch_error(const struct batch *b)
{
    return b ? b->error : status_nomem();
}

bool batch_was_cut(const struct batch *b)
{
    return b && b->timed_out;
}

size_t batch_count(const struct batch *b)
{
    return b ? b->count : 0;
}

const struct tool_result *batch_at(const struct batch *b, size_t index)
{
    return b && index < b->count ? &b->slots[index].result : NULL;
}

const struct allm_approval *batch_left(const struct batch *b, size_t index)
{
    return b->slots[index].verdict == VERDICT_LEFT ? b->slots[index].approval
                                                   : NULL;
}

const struct tool_result *batch_ended(const struct batch *b)
{
    return b->ended;
}

const struct tool_result *batch_halt(const struct batch *b)
{
    for (size_t i = 0; b && i < b->count; i++)
        if (b->slots[i].result.done && b->slots[i].result.halts)
            return &b->slots[i].result;
    return NULL;
}
