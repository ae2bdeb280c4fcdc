/*
 * turns.c - run turns until a verdict ends them
 *
 *      OPENING --> STEPPING --> JUDGING --> OPENING ...
 *                                  |
 *                                  '--> COMPLETING --> RECORDING --> ENDED
 *                                                      chat_completed
 *
 * The decision of a turn's context is the first verdict; each policy may change
 * it.  The next turn opens when the caller pulls the next event.
 *
 * Invariants
 *   (1) All events of a turn come before those of the next.
 *   (2) chat_completed comes once, and last; never when cancelled.
 *   (3) The history is shared, never copied: a turn costs what it adds.
 */
#include "run/turns.h"

#include "base/buf.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "data/error.h"
#include "data/thread.h"
#include "data/usage.h"
#include "loop/waker.h"
#include "run/refused.h"
#include "run/spans.h"
#include "run/step.h"
#include "run/stream.h"
#include "tool/result.h"
#include "turn/budget.h"
#include "json/build.h"
#include "json/json.h"

#include <stdarg.h>

enum state {
    OPENING, STEPPING, JUDGING, COMPLETING, RECORDING, ENDED, FAILED
};

static struct turns *as_turns(struct machine *m)
{
    return (struct turns *)m;
}

static const struct turns *as_const_turns(const struct machine *m)
{
    return (const struct turns *)m;
}

void turns_fail(struct turns *t, const allm_error *error)
{
    t->state = FAILED;
    t->error = setup_copy_error(&t->setup, error);
    trace_fail(&t->span, t->error);
}

const allm_error *turns_error(struct turns *t, allm_status kind,
                              const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const allm_error *e = status_verror(home_arena(t->setup.home), kind, reason,
                                        format, args);
    va_end(args);
    return e;
}

/* ------------------------------------------------------------ verdicts --- */

bool turns_costs_turn(const struct turns *t, const allm_verdict *v)
{
    return v->decision == ALLM_DECISION_CONTINUE ||
           (v->decision == ALLM_DECISION_RETRY && t->caller_retries);
}

const allm_step_result *turns_last_step(const struct turns *t)
{
    return t->newest ? t->newest->step : NULL;
}

const struct tool_result *turns_halt(const struct turns *t)
{
    return t->newest ? t->newest->halt : NULL;
}

/* Copy a verdict that outlives its turn. */
static void keep_verdict(struct turns *t, const allm_verdict *v)
{
    struct arena *a = home_arena(t->setup.home);
    t->verdict = *v;
    t->verdict.reason = arena_text(a, v->reason);
    t->verdict.metadata = json_copy(a, v->metadata);
    t->verdict.error = v->error ? setup_copy_error(&t->setup, v->error) : NULL;
    t->verdict.say = NULL;
}

static void end_with_verdict(struct turns *t, const allm_verdict *v)
{
    keep_verdict(t, v);
    if (t->verdict.error)
        t->error = t->verdict.error;
    if (home_arena(t->setup.home)->broken) {
        turns_fail(t, status_nomem());
        return;
    }
    t->state = COMPLETING;
    if (t->front->extend && t->front->extend(t))
        t->state = OPENING;
}

bool turns_append_user(struct turns *t, const char *text)
{
    return allm_thread_add(t->thread, ALLM_ROLE_USER, text) == ALLM_OK;
}

static void free_step(struct turns *t)
{
    if (t->step)
        t->step->ops->free(t->step);
    t->step = NULL;
}

/* --------------------------------------------------------------- turns --- */

static void end_with_error(struct turns *t, const char *reason,
                           const allm_error *error)
{
    end_with_verdict(t, ALLM(verdict, .decision = ALLM_DECISION_ERROR,
                             .reason = reason, .error = error));
}

/* A turn could not begin, or failed without a result. */
static void on_step_failure(struct turns *t, const allm_error *error)
{
    bool fatal = error->kind == ALLM_ERR_NOMEM ||
                 error->kind == ALLM_ERR_MISUSE ||
                 error->kind == ALLM_ERR_STORE ||
                 !strcmp(error->reason, "tap_failed");
    bool model = error->kind == ALLM_ERR_ADAPTER ||
                 error->kind == ALLM_ERR_STREAM;
    if (fatal || (!t->step_count && !(model && t->front->failure_is_result))) {
        turns_fail(t, error);
        return;
    }
    t->open_failed = true;
    end_with_error(t, HALTED_ERROR, error);
}

/* May the model be called?  False: a policy or the budget has ended the
 * turns. */
static bool may_call_model(struct turns *t, struct step_turn *turn)
{
    allm_verdict v = { .size = sizeof v, .decision = ALLM_DECISION_CONTINUE };
    if (!turn->replay)          /* It was decided before the interruption. */
        policies_before(t, &v);
    if (t->state == FAILED)
        return false;
    if (v.decision != ALLM_DECISION_CONTINUE &&
        v.decision != ALLM_DECISION_NONE) {
        end_with_verdict(t, &v);
        return false;
    }
    if (v.say && !turns_append_user(t, v.say)) {
        turns_fail(t, status_nomem());
        return false;
    }
    const char *limit = step_reserve_budget(&t->setup, turn);
    if (!limit)
        return true;
    end_with_verdict(t, ALLM(verdict, .decision = ALLM_DECISION_HALT,
                             .reason = HALTED_BUDGET,
                             .metadata =
                                 build_one_text(home_arena(t->setup.home),
                                                "budget", slice_of(limit))));
    return false;
}

static void open_turn(struct turns *t)
{
    struct step_turn turn = {
        .options = &t->pass_options,
        .index = t->turn,
        .max = t->max_turns,
        .no_tools = t->no_tools,
        .pass = t->pass,
        .replay = t->replayed ? NULL : t->setup.replay,
        .arena = &t->turn_arena,
    };
    const allm_error *late = setup_timeout_error(&t->setup);
    if (late) {
        t->open_failed = true;
        end_with_error(t, "timeout", late);
        return;
    }
    if (!may_call_model(t, &turn))
        return;
    t->model_turns = t->turn + 1;
    turn.thread = t->thread;
    turn.checked_count = t->checked_count;
    t->replayed = true;
    arena_reset(&t->turn_arena);
    bool counted = counts_json(t, &t->turn_arena, &turn.counts);
    t->step = counted ? step_machine(&t->setup, &turn) : NULL;
    t->state = STEPPING;
    if (!t->step) {
        budget_settle(t->setup.budget, turn.reserved, NULL);
        turns_fail(t, status_nomem());
        return;
    }
    const allm_error *error = t->step->ops->error(t->step);
    if (error) {
        on_step_failure(t, error);      /* copies the error */
        free_step(t);
        return;
    }
    t->checked_count = allm_thread_count(t->thread);
}

/* Store the result of a turn as long as the machine lives. */
static bool keep_step_result(struct turns *t)
{
    struct turns_step *one = arena_zero(home_arena(t->setup.home), sizeof *one);
    if (!one || !home_hold(t->setup.home, step_home(t->step)))
        return false;
    const struct tool_result *halt = step_halt(t->step);
    one->step = step_result(t->step);
    one->halt = halt ? result_copy(t->setup.home, halt) : NULL;
    if (halt && !one->halt)
        return false;
    if (t->newest)
        t->newest->next = one;
    else
        t->steps = one;
    t->newest = one;
    t->step_count++;
    return true;
}

static allm_verdict verdict_of(struct turns *t, const allm_context *c)
{
    allm_verdict v = { .size = sizeof v, .decision = c->decision,
                       .reason = c->reason, .metadata = c->payload,
                       .error = c->error };
    if (v.decision == ALLM_DECISION_DONE)
        v.reason = HALTED_COMPLETED;
    if (v.decision == ALLM_DECISION_NONE) {
        v.decision = ALLM_DECISION_ERROR;
        v.reason = "unexpected_pipeline_result";
        v.error =
            turns_error(t, ALLM_ERR_ENGINE, v.reason,
                        "the stages of the turn made no decision; the last one "
                        "must call allm_context_decide()");
    }
    return v;
}

/* Continue with the conversation of the last turn. */
static bool adopt_thread(struct turns *t)
{
    allm_thread *next = allm_thread_copy(turns_last_step(t)->thread);
    if (!next)
        return false;
    allm_thread_free(t->thread);
    t->thread = next;
    return true;
}

/* Append an answer that a policy rejects, so the model sees it. */
static bool append_answer_for_retry(struct turns *t, const allm_context *c)
{
    if (t->setup.append_answer)
        return true;            /* It is there already. */
    allm_message *m = context_assistant(c);
    bool ok = m && allm_thread_append(t->thread, m) == ALLM_OK;
    allm_message_free(m);
    return ok;
}

/* Continue or end, as the verdict says. */
static void apply_verdict(struct turns *t, const allm_context *c,
                          const allm_verdict *v)
{
    bool go_on = v->decision == ALLM_DECISION_CONTINUE ||
                 v->decision == ALLM_DECISION_RETRY;
    bool failed = v->decision == ALLM_DECISION_ERROR;
    bool echo = v->decision == ALLM_DECISION_RETRY &&
                c->decision == ALLM_DECISION_DONE;
    if ((!failed || t->front->keeps_failed_turn) && !adopt_thread(t)) {
        turns_fail(t, status_nomem());
        return;
    }
    if (!go_on) {
        end_with_verdict(t, v);
        return;
    }
    if ((echo && !append_answer_for_retry(t, c)) ||
        (v->say && *v->say && !turns_append_user(t, v->say))) {
        turns_fail(t, status_nomem());
        return;
    }
    if (turns_costs_turn(t, v))
        t->turn++;
    if (c->decision == ALLM_DECISION_CONTINUE)
        t->tool_calls += c->call_count;
    t->state = OPENING;
}

static void decide_turn(struct turns *t, const allm_context *c)
{
    allm_verdict v = verdict_of(t, c);
    policies_after(t, c, &v);
    if (t->state != FAILED)
        apply_verdict(t, c, &v);
}

/* The deadline of the whole call passed while tools ran: the turn counts, and
 * no policy is called. */
static void end_at_deadline(struct turns *t, const allm_context *c)
{
    if (!adopt_thread(t)) {
        turns_fail(t, status_nomem());
        return;
    }
    t->tool_calls += c->call_count;
    end_with_error(t, "timeout", setup_timeout_error(&t->setup));
}

/* A turn is complete: continue or end? */
static void judge_turn(struct turns *t)
{
    const allm_context *c = t->step ? step_context(t->step) : NULL;
    const allm_error *error = t->step ? t->step->ops->error(t->step) : NULL;
    if (!c || !keep_step_result(t)) {
        turns_fail(t, status_nomem());
        free_step(t);
        return;
    }
    if (error)
        t->error = setup_copy_error(&t->setup, error);
    usage_sum(&t->usage, turns_last_step(t)->response->usage);
    if (t->front->observe)
        t->front->observe(t, c);
    if (step_hit_deadline(t->step))
        end_at_deadline(t, c);
    else
        decide_turn(t, c);
    free_step(t);
}

/* ------------------------------------------------------ pulling events --- */

static allm_status pull_step(struct turns *t, allm_event **event,
                             int64_t *again_ns)
{
    if (!t->step) {             /* cannot happen: it was opened */
        turns_fail(t, status_nomem());
        return ALLM_OK;
    }
    allm_status status = t->step->ops->next(t->step, event, again_ns);
    if (status < 0) {
        on_step_failure(t, t->step->ops->error(t->step));
        free_step(t);
        return ALLM_OK;
    }
    if (status == ALLM_EVENT && (*event)->type == ALLM_EV_STEP_COMPLETED)
        t->state = JUDGING;     /* when the caller pulls the next event */
    return status;
}

/* End the span of the chat with its result. */
static void end_chat_span(struct turns *t)
{
    spans_end_with(&t->span, &t->turn_arena, "chat_result", &chat_result_shape,
                   t->chat);
}

/* Make the result; it waits until the journal has it. */
static void complete_chat(struct turns *t)
{
    struct journal *j = &t->journal;
    journal_init(j, &t->setup, home_arena(t->setup.home), t->turn, t->pass);
    t->state = RECORDING;
    if (!t->front->finish(t) ||
        !journal_add(j, &(allm_journal_entry){ .kind = ALLM_JOURNAL_END,
                                               .chat_result = t->chat }))
        turns_fail(t, status_nomem());
}

static allm_status end_chat(struct turns *t, allm_event **event,
                            int64_t *again_ns)
{
    allm_status status = journal_write(&t->journal, again_ns);
    if (status == ALLM_AGAIN)
        return status;
    if (status < 0) {
        turns_fail(t, t->journal.error);
        return status;
    }
    t->last_event = (allm_event){ .size = sizeof t->last_event,
                            .type = ALLM_EV_CHAT_COMPLETED,
                            .chat_result = t->chat };
    *event = &t->last_event;
    t->state = ENDED;
    end_chat_span(t);
    return ALLM_EVENT;
}

static allm_status turns_next(struct machine *m, allm_event **event,
                              int64_t *again_ns)
{
    struct turns *t = as_turns(m);
    if (!t->pulled)
        setup_start_time(&t->setup);
    t->pulled = true;
    for (;;) {
        allm_status status = ALLM_OK;
        switch (t->state) {
        case OPENING:
            if (t->setup.waker->held && !setup_timeout_error(&t->setup))
                return ALLM_AGAIN;
            open_turn(t);
            break;
        case STEPPING: status = pull_step(t, event, again_ns); break;
        case JUDGING:  judge_turn(t); break;
        case COMPLETING: complete_chat(t); break;
        case RECORDING: return end_chat(t, event, again_ns);
        case ENDED:    return ALLM_OK;
        default:       return t->error->kind;
        }
        if (status != ALLM_OK)
            return status;
    }
}

/* ------------------------------------------------------------- results --- */

static const allm_step_result **step_list(struct turns *t, struct arena *a)
{
    const allm_step_result **list =
        arena_zero(a, (t->step_count + 1) * sizeof *list);
    size_t n = 0;
    for (const struct turns_step *s = t->steps; list && s; s = s->next)
        list[n++] = s->step;
    return list;
}

allm_chat_result *turns_chat_result(struct turns *t, const char *reason,
                                    const allm_json *metadata)
{
    const allm_step_result *last = turns_last_step(t);
    const struct tool_result *halt = turns_halt(t);
    struct arena a = arena_in(t->mem);
    bool asks = !strcmp(reason, HALTED_ASK_USER) && halt &&
                halt->outcome.kind == OUTCOME_QUESTION;
    const allm_step_result **steps = step_list(t, &a);
    allm_chat_result *r = NULL;
    if (steps && metadata)
        r = allm_chat_result_new(
            ALLM(chat_result, .thread = t->thread, .steps = steps,
                 .step_count = t->step_count,
                 .final_response = last ? last->response : NULL,
                 .halted_reason = reason,
                 .pending_question = asks ? halt->outcome.question : NULL,
                 .pending_tool_call_id = asks ? halt->view.call->id : NULL,
                 .error = t->verdict.error, .metadata = metadata));
    arena_release(&a);
    if (r && shape_error(r)) {
        allm_chat_result_free(r);
        r = NULL;
    }
    return r;
}

/* Use the thread of the last step, without messages that were added for an
 * incomplete turn.  If no step is complete, use the partial response. */
static void use_last_step(struct turns *t, const allm_step_result *part)
{
    const allm_step_result *last = turns_last_step(t);
    allm_chat_result with = *t->chat;
    if (last)
        with.thread = last->thread;
    else if (part && part->response)
        with.final_response = part->response;
    else
        return;
    allm_chat_result *all = allm_chat_result_new(&with);
    allm_chat_result_free(t->chat);
    t->chat = all;
}

/* Make the result of turns that were stopped. */
static void make_partial_result(struct turns *t, const char *reason)
{
    const allm_step_result *part = t->step ? step_result(t->step) : NULL;
    bool whole = t->state == JUDGING;
    t->verdict = (allm_verdict){ .size = sizeof t->verdict,
                                 .decision = ALLM_DECISION_HALT,
                                 .reason = reason,
                                 .error = t->error };
    if (whole && part && keep_step_result(t) && !adopt_thread(t))
        t->error = status_nomem();
    t->chat = turns_chat_result(t, reason, json_empty_object());
    if (t->chat)
        use_last_step(t, part);
}

static void turns_stop(struct machine *m, bool cancelled)
{
    struct turns *t = as_turns(m);
    const allm_error *step_error = t->step ? t->step->ops->error(t->step)
                                           : NULL;
    if (step_error && t->state != ENDED && t->state != FAILED)
        t->error = setup_copy_error(&t->setup, step_error);
    if (t->step)
        t->step->ops->stop(t->step, cancelled);
    if (t->state == ENDED || t->state == FAILED)
        return;
    if (t->state == RECORDING) {        /* too late: it has its result */
        t->state = ENDED;
        end_chat_span(t);
        return;
    }
    make_partial_result(t, t->error ? HALTED_ERROR : HALTED_CANCELLED);
    if (cancelled)
        t->error = &error_cancelled;
    t->state = ENDED;
    if (!t->chat)
        turns_fail(t, status_nomem());
    end_chat_span(t);
}

static void turns_free(struct machine *m)
{
    struct turns *t = as_turns(m);
    struct mem mem = t->mem;
    free_step(t);
    policies_close(t);
    if (t->front->release && t->front_state)
        t->front->release(t);
    trace_end(&t->span, NULL);
    allm_chat_result_free(t->chat);
    allm_thread_free(t->thread);
    arena_release(&t->turn_arena);
    setup_release(&t->setup);
    mem_free(mem, t, sizeof *t);
}

static const allm_error *turns_current_error(const struct machine *m)
{
    const struct turns *t = as_const_turns(m);
    const allm_error *of_step = t->step ? t->step->ops->error(t->step) : NULL;
    return t->state != FAILED && of_step ? of_step : t->error;
}

static bool turns_has_failed(const struct machine *m, int64_t *again_ns)
{
    const struct turns *t = as_const_turns(m);
    if (t->step)
        return t->step->ops->failed(t->step, again_ns);
    if (t->state != OPENING && t->state != RECORDING)
        return t->error != NULL;
    *again_ns = t->setup.deadline_ns;
    return setup_timeout_error(&t->setup) != NULL;
}

static const allm_response *turns_response(const struct machine *m)
{
    const struct turns *t = as_const_turns(m);
    return t->chat && t->chat->final_response ? t->chat->final_response : NULL;
}

static const char *turns_request_id(const struct machine *m)
{
    return as_const_turns(m)->setup.request_id;
}

static const void *turns_result(const struct machine *m,
                                enum machine_result which)
{
    const struct turns *t = as_const_turns(m);
    if (which == MACHINE_CHAT)
        return t->chat;
    return which == MACHINE_AGENT && t->front->result ? t->front->result(t)
                                                      : NULL;
}

static const char *turns_tool_output(const struct machine *m, const char *id,
                                     size_t *len)
{
    return tool_output_find(&as_const_turns(m)->setup.tool_output, id, len);
}

static const struct machine_ops turns_ops = {
    .output = turns_tool_output,
    .next = turns_next,
    .stop = turns_stop,
    .free = turns_free,
    .error = turns_current_error,
    .failed = turns_has_failed,
    .response = turns_response,
    .request_id = turns_request_id,
    .result = turns_result,
};

/* ------------------------------------------------------------ starting --- */

static struct turns *make_turns(const allm_engine *e,
                                const struct turns_front *front)
{
    struct mem mem = engine_core(e)->mem;
    struct turns *t = mem_alloc(mem, sizeof *t);
    if (!t)
        return NULL;
    *t =
        (struct turns){ .machine = { &turns_ops }, .front = front, .mem = mem };
    arena_init(&t->turn_arena, mem);
    t->usage.size = sizeof t->usage;
    return t;
}

/* Everything that can fail before the network. */
static const allm_error *prepare_turns(
    struct turns *t, const allm_thread *thread, size_t front_state_size,
    const allm_error *(*begin)(struct turns *, const void *),
    const void *front_opts)
{
    struct setup *u = &t->setup;
    t->front_state = arena_zero(home_arena(u->home), front_state_size + 1);
    t->thread = allm_thread_copy(thread);
    t->began_ns = clock_now_ns(engine_core(u->engine)->clock);
    t->max_turns = u->max_turns;
    t->pass_options = u->options;
    if (!t->front_state || !t->thread)
        return status_nomem();
    const allm_error *error = begin(t, front_opts);
    if (error)
        return error;
    if (!policies_gather(t))
        return status_nomem();
    if (u->replay && (error = counts_restore(t, u->replay)))
        return error;
    if (u->span_metadata)
        trace_begin(&t->span, &u->trace, "chat", u->request_id, u->model,
                    u->span_metadata);
    return NULL;
}

allm_stream *turns_stream(
    const allm_engine *e, const allm_thread *thread, const allm_call_opts *opts,
    const struct turns_front *front, size_t front_state_size,
    const allm_error *(*begin)(struct turns *t, const void *front_opts),
    const void *front_opts)
{
    if (!e || !thread)
        return refused_missing(e, "invalid_thread", "thread");
    allm_stream *stream = stream_for(e);
    struct turns *t = stream ? make_turns(e, front) : NULL;
    if (!t) {
        allm_stream_free(stream);
        return NULL;
    }
    const allm_error *error = setup_init(&t->setup, e, thread, opts, stream);
    if (!t->setup.home) {
        turns_free(&t->machine);
        return stream_begin(stream, NULL);
    }
    if (!error)
        error = prepare_turns(t, thread, front_state_size, begin, front_opts);
    if (error)
        turns_fail(t, error);
    else
        open_turn(t);
    return stream_begin(stream, &t->machine);
}
