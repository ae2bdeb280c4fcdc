/*
 * step.c - one turn: an answer and the tools that it calls
 *
 *      CALLING         pull run/generate.c to its end     adapter events
 *      ANSWERED        write the answer to the journal
 *      RUNNING_STAGES  run turn/pipeline.c on the answer  tool events, error
 *      COMPLETING      extend the thread, make the result
 *      RECORDING       write the end to the journal       step_completed
 *
 * The result is a fold over the events, as in a caller's collector: `collect`
 * sees each event, or the tool_result that the event reports, first.
 *
 * Invariants
 *   (1) Every event of the answer comes before every event of a tool.
 *   (2) step_completed comes once, and last.
 *   (3) The model call and the tools are stopped once: at the end, on stop, or
 *       on free.
 */
#include "run/step.h"

#include "base/status.h"
#include "data/error.h"
#include "data/step_result.h"
#include "run/collect.h"
#include "run/generate.h"
#include "run/journal.h"
#include "run/refused.h"
#include "run/replay.h"
#include "run/spans.h"
#include "run/stream.h"
#include "turn/budget.h"
#include "turn/dispatch.h"
#include "turn/pipeline.h"
#include "json/json.h"

enum state {
    CALLING, ANSWERED, RUNNING_STAGES, COMPLETING, RECORDING, ENDED, FAILED
};

struct step {
    struct machine machine;
    struct setup *setup;
    struct setup *own_setup;    /* of a step that is not part of a chat */
    struct mem mem;
    struct allm_home *home;     /* of the fold and the result */
    struct collect collect;
    struct arena own_arena, *arena;
    struct step_turn turn;
    struct machine *generate;
    const allm_response *response;
    allm_context context;
    struct turn_tools tools;
    struct journal journal;
    bool announced;             /* the journal has the model call */
    size_t stage_index;         /* of the current stage */
    enum state state;
    bool error_emitted;         /* the context's error has been an event */
    bool pulled;
    uint64_t reserved;          /* tokens reserved from the budget */
    allm_thread *thread;        /* the conversation after this turn */
    struct turn_event last_event;
    const allm_error *error;
    const struct collect_step *completed;   /* NULL: not completed */
    allm_step_result *partial_result;   /* of a step that was stopped */
    struct trace_span span;
    struct tool_spans tool_spans;
};

static struct step *as_step(struct machine *m)
{
    return (struct step *)m;
}

static const struct step *as_const_step(const struct machine *m)
{
    return (const struct step *)m;
}

static void fail_step(struct step *s, const allm_error *error)
{
    s->state = FAILED;
    s->error = error_copy(s->home, error);
    trace_fail(&s->span, s->error);
}

/* Return unused tokens to the budget, once. */
static void settle_budget(struct step *s)
{
    if (s->reserved)
        budget_settle(s->setup->budget, s->reserved,
                      s->response ? s->response->usage : NULL);
    s->reserved = 0;
}

/* Write the entries of the journal that are left; < 0: the step has failed. */
static allm_status write_journal(struct step *s, int64_t *again_ns)
{
    allm_status status = journal_write(&s->journal, again_ns);
    if (status < 0)
        fail_step(s, s->journal.error);
    return status;
}

static void add_entry(struct step *s, const allm_journal_entry *entry)
{
    if (!journal_add(&s->journal, entry))
        fail_step(s, status_nomem());
}

/* ------------------------------------------------------- making a step --- */

static const struct machine_ops step_ops;

static struct step *make_step(struct setup *setup, const struct step_turn *turn)
{
    struct step *s = mem_alloc(setup->mem, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct step){ .machine = { &step_ops }, .setup = setup,
                        .mem = setup->mem, .turn = *turn,
                        .reserved = turn->reserved };
    arena_init(&s->own_arena, s->mem);
    s->arena = turn->arena ? turn->arena : &s->own_arena;
    context_init(&s->context, s->arena);
    journal_init(&s->journal, setup, s->arena, turn->index, turn->pass);
    s->home = home_new(s->mem, 512);
    if (s->home && collect_init(&s->collect, s->home, turn->thread))
        return s;
    s->machine.ops->free(&s->machine);
    return NULL;
}

static void fill_tools(struct step *s)
{
    struct setup *u = s->setup;
    const struct options *o = s->turn.options;
    const struct engine_core *core = engine_core(u->engine);
    const allm_json *context = allm_json_type_of(o->context) == ALLM_JSON_OBJECT
                                   ? o->context
                                   : engine_record(u->engine)->context;
    s->tools.env = (struct tool_env){
        .mem = s->mem,         .clock = core->clock,
        .ring = stream_ring,   .waker = u->waker,
        .workers = stream_workers, .workers_ud = u->stream,
        .context = context,    .session_id = o->session_id,
        .request_id = u->request_id,
        .key_prefix = u->key_prefix ? u->key_prefix : u->request_id,
        .key_turn = s->turn.index,
        .key_by_index = u->key_prefix != NULL,
    };
    s->tools.opts = (struct batch_opts){
        .policy = (allm_tool_policy)o->on_tool_error,
        .on_error = o->given.on_tool_error_fn,
        .on_error_ud = o->given.on_tool_error_ud,
        .timeout_ms = options_small(o->tool_timeout_ms),
        .max_concurrency = options_small(o->max_concurrency),
        .late_ns = &u->deadline_ns,
        .live_events = o->live_tool_events,
        .by_schema = o->validate_arguments && !u->terms.check_arguments,
        .max_output = u->tool_output.max,
        .keep_whole = tool_output_keep,
        .keep_ud = &u->tool_output,
        .style = u->style,
        .executor = o->given.executor,
        .encoder = o->given.encoder,
        .gate = o->given.gate,
    };
    if (u->span_metadata)
        s->tools.opts.trace = spans_of_tools(&s->tool_spans);
    s->tool_spans = (struct tool_spans){ .trace = &u->trace,
                                         .request_id = u->request_id,
                                         .model = u->model,
                                         .metadata = u->span_metadata,
                                         .arena = s->arena };
    if (o->given.journal)
        s->tools.opts.journal = journal_of_tools(&s->journal);
    s->tools.replay = s->turn.replay;
    s->tools.home = s->home;
}

static void fill_context(struct step *s)
{
    struct setup *u = s->setup;
    allm_context *c = &s->context;
    c->clock = engine_core(u->engine)->clock;
    c->waker = u->waker;
    c->terms = &u->terms;
    c->runner = &s->tools;
    c->history = s->collect.thread;
    c->executor = s->turn.options->given.executor;
    c->tool_count = s->turn.no_tools ? 0 : u->tool_count;
    c->tools = u->tools;
    c->schemas = u->schemas;
    c->iteration = s->turn.index;
    c->max_iterations = s->turn.max;
}

/* Plan the call of the model.  With a journal, the first pull makes it. */
static void open_model_call(struct step *s)
{
    struct setup *u = s->setup;
    const struct call_spec turn = {
        .name = "generate",
        .request_id = u->request_id,
        .deadline_ns = &u->deadline_ns,
        .thread = s->turn.thread,
        .checked_count = s->turn.checked_count,
        .tool_count = s->turn.no_tools ? 0 : u->wire_count,
        .tools = u->wire,
        .structured_finalize = u->finalize,
        .options = s->turn.options,
        .provider_options = u->provider_options,
        .adapter_opts = u->adapter_opts,
        .deferred = u->options.given.journal != NULL,
    };
    s->generate = generate_open(u->engine, &turn, &s->collect, u->stream);
    if (!s->generate)
        fail_step(s, status_nomem());
    else if (s->generate->ops->error(s->generate))
        fail_step(s, s->generate->ops->error(s->generate));
}

static void set_response(struct step *s, const allm_response *r)
{
    s->response = s->context.response = r;
    s->tool_spans.count = r->tool_call_count;
}

struct machine *step_machine(struct setup *u, const struct step_turn *turn)
{
    struct step *s = make_step(u, turn);
    if (!s)
        return NULL;
    fill_context(s);
    fill_tools(s);
    if (u->span_metadata)
        trace_begin(&s->span, &u->trace, "step", u->request_id, u->model,
                    u->span_metadata);
    if (turn->replay && turn->replay->response) {
        set_response(s, turn->replay->response);
        replay_answer(&s->context);
        s->state = RUNNING_STAGES;
    } else {
        open_model_call(s);
    }
    return &s->machine;
}

/* ------------------------------------------------------ pulling events --- */

/* Fold an event, or the result that it reports, then deliver it. */
static allm_status deliver_event(struct step *s, struct turn_event *made,
                                 allm_event **event)
{
    allm_status status = made->result
                             ? collect_result(&s->collect, made->result)
                             : collect_add(&s->collect, &made->event);
    if (status < 0) {
        fail_step(s, status_nomem());
        return s->error->kind;
    }
    *event = &made->event;
    return ALLM_EVENT;
}

/* Write the call of the model to the journal before it is made. */
static allm_status announce_call(struct step *s, int64_t *again_ns)
{
    const allm_journal_entry call = {
        .kind = ALLM_JOURNAL_MODEL_CALL,
        .thread = s->turn.thread,
        .tool_count = s->turn.no_tools ? 0 : s->setup->wire_count,
        .tools = s->setup->wire,
        .counts = s->turn.counts ? s->turn.counts : json_empty_object(),
    };
    if (!s->announced)
        add_entry(s, &call);
    s->announced = true;
    return s->state == FAILED ? s->error->kind : write_journal(s, again_ns);
}

static allm_status pull_answer(struct step *s, allm_event **event,
                               int64_t *again_ns)
{
    const struct machine_ops *g = s->generate->ops;
    allm_status status = announce_call(s, again_ns);
    if (status != ALLM_OK)
        return status;
    status = g->next(s->generate, event, again_ns);
    if (status < 0)
        fail_step(s, g->error(s->generate));
    if (status != ALLM_OK)
        return status;
    s->error = g->error(s->generate);
    set_response(s, g->response(s->generate));
    settle_budget(s);
    s->state = ANSWERED;
    /* Before somebody is asked about its calls, the answer is durable. */
    bool asks = s->tools.opts.gate && s->response->tool_call_count;
    add_entry(s, &(allm_journal_entry){ .kind = ALLM_JOURNAL_RESPONSE,
                                        .response = s->response,
                                        .more = !asks });
    return ALLM_OK;
}

static allm_status record_answer(struct step *s, int64_t *again_ns)
{
    allm_status status = write_journal(s, again_ns);
    if (status == ALLM_OK)
        s->state = RUNNING_STAGES;
    return status;
}

static void decide_error(struct step *s)
{
    s->context.error = s->response->error;
    context_decide(&s->context, ALLM_DECISION_ERROR, "error");
}

/* If the context has an error, emit it, once. */
static bool emit_error(struct step *s)
{
    allm_context *c = &s->context;
    if (s->error_emitted || c->status == ALLM_OK || !c->error)
        return false;
    s->error_emitted = true;
    allm_event *e = context_put(c, ALLM_EV_ERROR);
    if (!e) {
        fail_step(s, status_nomem());
        return false;
    }
    e->error = c->error;
    s->error = error_copy(s->home, c->error);
    return true;
}

static allm_status run_stages(struct step *s, allm_event **event,
                              int64_t *again_ns)
{
    allm_context *c = &s->context;
    struct turn_event *made = context_take(c);
    if (made)
        return deliver_event(s, made, event);
    if (s->response->finish_reason == ALLM_FINISH_ERROR) { /* no stage runs */
        decide_error(s);
        s->state = COMPLETING;
        return ALLM_OK;
    }
    allm_status status = pipeline_run(s->setup->pipeline, c, &s->stage_index);
    if (s->journal.error) {     /* It rejected an entry. */
        fail_step(s, s->journal.error);
        return s->error->kind;
    }
    if (status == ALLM_ERR_NOMEM || status == ALLM_ERR_MISUSE) {
        fail_step(s, c->error);
        return status;
    }
    if (status == ALLM_AGAIN) {
        *again_ns = c->again_ns;
        return status;
    }
    if (status == ALLM_EVENT)
        return ALLM_OK;         /* The next round delivers it. */
    if (!emit_error(s) && s->state != FAILED)
        s->state = COMPLETING;
    return ALLM_OK;
}

/* Append the messages of this turn; false: out of memory. */
static bool append_messages(struct step *s)
{
    allm_context *c = &s->context;
    bool halted = c->decision == ALLM_DECISION_HALT;
    s->thread = allm_thread_copy(s->turn.thread);
    if (!s->thread)
        return false;
    if (!c->message_count && (s->setup->append_answer || halted))
        context_push_message(c, context_assistant(c));
    if (c->broken)
        return false;
    return !c->message_count ||
           allm_thread_append_all(s->thread, c->message_count, c->messages) ==
               ALLM_OK;
}

/* The calls that are left to the caller; none if the turn failed.  False: out
 * of memory. */
static bool fill_manual_calls(struct step *s, allm_event *e)
{
    if (s->context.status != ALLM_OK)
        return true;
    e->manual_tool_calls = s->context.manual;
    e->manual_tool_call_count = s->context.manual_count;
    if (!s->tools.left_count)
        return true;
    e->metadata = approval_metadata(s->arena, s->tools.left_count,
                                    s->tools.left);
    return e->metadata != NULL;
}

/* The result waits until the journal has the end of the turn. */
static void record_end(struct step *s)
{
    const allm_step_result *step = s->completed->step;
    s->state = RECORDING;
    add_entry(s, &(allm_journal_entry){ .kind = ALLM_JOURNAL_TURN_END,
                                        .step = step, .more = 1 });
    if (s->own_setup)
        add_entry(s, &(allm_journal_entry){ .kind = ALLM_JOURNAL_END,
                                            .step = step });
}

static allm_status complete_step(struct step *s)
{
    allm_event *e = &s->last_event.event, *event;
    bool memory = append_messages(s);
    *e = (allm_event){ .size = sizeof *e, .type = ALLM_EV_STEP_COMPLETED,
                       .response = s->response, .thread = s->thread,
                       .mode = s->setup->terms.manual ? ALLM_MODE_MANUAL
                                                      : ALLM_MODE_AUTO };
    if (!memory || !fill_manual_calls(s, e)) {
        fail_step(s, status_nomem());
        return ALLM_ERR_NOMEM;
    }
    allm_status status = deliver_event(s, &s->last_event, &event);
    if (status < 0)
        return status;
    s->completed = collect_last_step(&s->collect);
    record_end(s);
    return ALLM_OK;
}

static allm_status end_step(struct step *s, allm_event **event,
                            int64_t *again_ns)
{
    allm_status status = write_journal(s, again_ns);
    if (status != ALLM_OK)
        return status;
    s->state = ENDED;
    spans_end_with(&s->span, s->arena, "step_result", &step_result_shape,
                   s->completed->step);
    *event = &s->last_event.event;
    return ALLM_EVENT;
}

static allm_status step_next(struct machine *m, allm_event **event,
                             int64_t *again_ns)
{
    struct step *s = as_step(m);
    if (s->own_setup && !s->pulled)
        setup_start_time(s->own_setup);
    s->pulled = true;
    for (;;) {
        allm_status status = ALLM_OK;
        switch (s->state) {
        case CALLING:  status = pull_answer(s, event, again_ns); break;
        case ANSWERED: status = record_answer(s, again_ns); break;
        case RUNNING_STAGES: status = run_stages(s, event, again_ns); break;
        case COMPLETING: status = complete_step(s); break;
        case RECORDING: return end_step(s, event, again_ns);
        case ENDED:   return ALLM_OK;
        case FAILED:  return s->error->kind;
        }
        if (status != ALLM_OK)
            return status;
    }
}

/* ------------------------------------------------ stopping and results --- */

static void step_stop(struct machine *m, bool cancelled)
{
    struct step *s = as_step(m);
    if (s->generate)
        s->generate->ops->stop(s->generate, cancelled);
    dispatch_stop(&s->tools);
    if (s->state == ENDED || s->state == FAILED)
        return;
    if (s->generate && !s->response) {
        s->response = s->generate->ops->response(s->generate);
        s->error = s->generate->ops->error(s->generate);
    }
    settle_budget(s);
    s->partial_result = collect_step_result(&s->collect);
    s->state = ENDED;
    if (!s->partial_result)
        fail_step(s, status_nomem());
    spans_end_with(&s->span, s->arena, "step_result", &step_result_shape, NULL);
}

static void step_free(struct machine *m)
{
    struct step *s = as_step(m);
    struct mem mem = s->mem;
    dispatch_stop(&s->tools);
    context_release(&s->context);
    dispatch_release(&s->tools);
    settle_budget(s);
    trace_end(&s->span, NULL);
    if (s->generate)
        s->generate->ops->free(s->generate);
    allm_step_result_free(s->partial_result);
    allm_thread_free(s->thread);
    if (s->collect.home)
        collect_release(&s->collect);
    home_drop(s->home);
    arena_release(&s->own_arena);
    if (s->own_setup) {
        setup_release(s->own_setup);
        mem_free(mem, s->own_setup, sizeof *s->own_setup);
    }
    mem_free(mem, s, sizeof *s);
}

static const allm_error *step_error(const struct machine *m)
{
    const struct step *s = as_const_step(m);
    if (s->error || !s->generate)
        return s->error;
    return s->generate->ops->error(s->generate);
}

static bool step_failed(const struct machine *m, int64_t *again_ns)
{
    const struct step *s = as_const_step(m);
    if (s->error)
        return true;
    if (s->state == CALLING && s->generate)
        return s->generate->ops->failed(s->generate, again_ns);
    *again_ns = s->setup->deadline_ns;
    return setup_timeout_error(s->setup) != NULL;
}

static const allm_response *step_response(const struct machine *m)
{
    const allm_step_result *r = step_result(m);
    return r ? r->response : NULL;
}

static const char *step_request_id(const struct machine *m)
{
    return as_const_step(m)->setup->request_id;
}

static const void *step_result_of(const struct machine *m,
                                  enum machine_result which)
{
    return which == MACHINE_STEP   ? (const void *)step_result(m)
           : which == MACHINE_HALT ? step_halt(m)
                                   : NULL;
}

/* For allm_stream_wait(), an unknown tool is an error, not a result. */
static allm_status step_wait_status(struct machine *m)
{
    return as_const_step(m)->context.status;
}

static const char *step_output(const struct machine *m, const char *id,
                               size_t *len)
{
    return tool_output_find(&as_const_step(m)->setup->tool_output, id, len);
}

static const struct machine_ops step_ops = {
    .output = step_output,
    .next = step_next,
    .stop = step_stop,
    .free = step_free,
    .error = step_error,
    .failed = step_failed,
    .response = step_response,
    .request_id = step_request_id,
    .result = step_result_of,
    .blocked = step_wait_status,
};

const allm_context *step_context(const struct machine *m)
{
    return &as_const_step(m)->context;
}

const allm_step_result *step_result(const struct machine *m)
{
    const struct step *s = as_const_step(m);
    return s->completed ? s->completed->step : s->partial_result;
}

const struct tool_result *step_halt(const struct machine *m)
{
    const struct step *s = as_const_step(m);
    return s->completed ? s->completed->halt : NULL;
}

struct allm_home *step_home(const struct machine *m)
{
    return as_const_step(m)->home;
}

const allm_tool_call *const *step_unknown_calls(const struct machine *m,
                                                size_t *count)
{
    *count = as_const_step(m)->tools.unknown_count;
    return as_const_step(m)->tools.unknown;
}

bool step_hit_deadline(const struct machine *m)
{
    return batch_was_cut(as_const_step(m)->tools.batch);
}

const char *step_reserve_budget(struct setup *u, struct step_turn *turn)
{
    const allm_int max = turn->options->max_tokens;
    uint64_t need = max.set && max.value > 0 ? (uint64_t)max.value : 0;
    int64_t now = clock_now_ns(engine_core(u->engine)->clock);
    return budget_take(u->budget, now, need, &turn->reserved);
}

/* ----------------------------------------------------------- allm_step --- */

static const allm_error no_budget =
    STATUS_ERROR(ALLM_ERR_ENGINE, REASON_BUDGET,
                 "the budget of this call is used up; raise its limits");

static struct machine *make_single_step(struct setup *u, const allm_engine *e,
                                        const allm_thread *thread,
                                        const allm_call_opts *opts,
                                        allm_stream *stream)
{
    const allm_error *error = setup_init(u, e, thread, opts, stream);
    struct step_turn turn = { .options = &u->options, .thread = thread,
                              .max = u->max_turns, .replay = u->replay };
    if (!u->home)
        return NULL;
    u->append_answer = true;
    u->finalize = u->options.structured_finalize;
    if (!error && step_reserve_budget(u, &turn))
        error = &no_budget;
    if (error)
        turn.thread = NULL;     /* The thread may be the cause. */
    struct step *s = error ? make_step(u, &turn)
                           : as_step(step_machine(u, &turn));
    if (!s) {
        budget_settle(u->budget, turn.reserved, NULL);
        return NULL;
    }
    s->own_setup = u;
    if (error)
        fail_step(s, error);
    return &s->machine;
}

allm_stream *allm_step(const allm_engine *e, const allm_thread *thread,
                       const allm_call_opts *opts)
{
    if (!e || !thread)
        return refused_missing(e, "invalid_thread", "thread");
    struct mem mem = engine_core(e)->mem;
    allm_stream *stream = stream_for(e);
    struct setup *u = stream ? mem_alloc(mem, sizeof *u) : NULL;
    if (!u) {
        allm_stream_free(stream);
        return NULL;
    }
    struct machine *m = make_single_step(u, e, thread, opts, stream);
    if (!m) {
        setup_release(u);
        mem_free(mem, u, sizeof *u);
    }
    return stream_begin(stream, m);
}
