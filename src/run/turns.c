/*
 * turns.c - turn after turn, until something ends it
 *
 *      OPENING --> STEPPING --> (verdict) --> OPENING ...
 *                                  |
 *                                  '--> CLOSING --> ENDED
 *                                       chat_completed
 *
 * The verdict of a turn is its context's decision; policies may change it, in
 * their order.  The next turn is opened when the next event is asked for.
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

enum state { OPENING, STEPPING, JUDGING, CLOSING, ENDED, FAILED };

static struct turns *of(struct machine *m)
{
    return (struct turns *)m;
}

static const struct turns *look(const struct machine *m)
{
    return (const struct turns *)m;
}

/* ----------------------------------------------------------------- errors --- */

void turns_fail(struct turns *l, const allm_error *error)
{
    l->state = FAILED;
    l->error = setup_keep_error(&l->setup, error);
    trace_fail(&l->span, l->error);
}

const allm_error *turns_error(struct turns *l, allm_status kind,
                              const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const allm_error *e = status_verror(home_arena(l->setup.home), kind, reason,
                                        format, args);
    va_end(args);
    return e;
}

/* ----------------------------------------------------------------- ending --- */

bool turns_counts(const struct turns *l, const allm_verdict *v)
{
    return v->decision == ALLM_DECISION_CONTINUE ||
           (v->decision == ALLM_DECISION_RETRY && l->asks_again);
}

const allm_step_result *turns_last(const struct turns *l)
{
    return l->newest ? l->newest->step : NULL;
}

const struct tool_result *turns_halt(const struct turns *l)
{
    return l->newest ? l->newest->halt : NULL;
}

/* Keep a verdict beyond the turn. */
static void keep_verdict(struct turns *l, const allm_verdict *v)
{
    struct arena *a = home_arena(l->setup.home);
    l->verdict = *v;
    l->verdict.reason = arena_text(a, v->reason);
    l->verdict.metadata = json_copy(a, v->metadata);
    l->verdict.error = v->error ? setup_keep_error(&l->setup, v->error) : NULL;
    l->verdict.say = NULL;
}

static void settle(struct turns *l, const allm_verdict *v)
{
    keep_verdict(l, v);
    if (l->verdict.error)
        l->error = l->verdict.error;
    if (home_arena(l->setup.home)->broken) {
        turns_fail(l, status_nomem());
        return;
    }
    l->state = CLOSING;
    if (l->front->extend && l->front->extend(l))
        l->state = OPENING;
}

bool turns_say(struct turns *l, const char *text)
{
    return allm_thread_add(l->thread, ALLM_ROLE_USER, text) == ALLM_OK;
}

static void free_step(struct turns *l)
{
    if (l->step)
        l->step->ops->free(l->step);
    l->step = NULL;
}

/* ------------------------------------------------------------------ turns --- */

static void settle_error(struct turns *l, const char *reason,
                         const allm_error *error)
{
    settle(l, ALLM(verdict, .decision = ALLM_DECISION_ERROR, .reason = reason,
                   .error = error));
}

/* A turn could not begin, or broke off without a result. */
static void on_failure(struct turns *l, const allm_error *error)
{
    bool fatal = error->kind == ALLM_ERR_NOMEM ||
                 error->kind == ALLM_ERR_MISUSE ||
                 error->kind == ALLM_ERR_STORE ||
                 !strcmp(error->reason, "tap_failed");
    bool model = error->kind == ALLM_ERR_ADAPTER ||
                 error->kind == ALLM_ERR_STREAM;
    if (fatal || (!l->step_count && !(model && l->front->hands_back))) {
        turns_fail(l, error);
        return;
    }
    l->open_failed = true;
    settle_error(l, HALTED_ERROR, error);
}

/* {"budget": limit} */
static const allm_json *budget_metadata(struct turns *l, const char *limit)
{
    struct build b;
    build_init(&b, home_arena(l->setup.home));
    build_object(&b);
    build_key(&b, SLICE("budget"));
    build_text(&b, slice_of(limit));
    build_end(&b);
    return build_done(&b);
}

/* May the model be asked?  False: the loop ends here. */
static bool may_ask(struct turns *l, struct step_turn *turn)
{
    allm_verdict v = { .size = sizeof v, .decision = ALLM_DECISION_CONTINUE };
    policies_before(l, &v);
    if (l->state == FAILED)
        return false;
    if (v.decision != ALLM_DECISION_CONTINUE &&
        v.decision != ALLM_DECISION_NONE) {
        settle(l, &v);
        return false;
    }
    if (v.say && !turns_say(l, v.say)) {
        turns_fail(l, status_nomem());
        return false;
    }
    const char *limit = step_afford(&l->setup, turn);
    if (!limit)
        return true;
    settle(l, ALLM(verdict, .decision = ALLM_DECISION_HALT,
                   .reason = HALTED_BUDGET,
                   .metadata = budget_metadata(l, limit)));
    return false;
}

static void open_turn(struct turns *l)
{
    struct step_turn turn = {
        .options = &l->pass_options,
        .index = l->turn,
        .max = l->max_turns,
        .no_tools = l->no_tools,
        .replay = l->step_count ? NULL : l->setup.replay,
        .arena = &l->turn_arena,
    };
    const allm_error *late = setup_late(&l->setup);
    if (late) {
        l->open_failed = true;
        settle_error(l, "timeout", late);
        return;
    }
    if (!may_ask(l, &turn))
        return;
    l->asked = l->turn + 1;
    turn.thread = l->thread;
    turn.checked = l->checked;
    arena_reset(&l->turn_arena);
    l->step = step_machine(&l->setup, &turn);
    l->state = STEPPING;
    if (!l->step) {
        budget_settle(l->setup.budget, turn.taken, NULL);
        turns_fail(l, status_nomem());
        return;
    }
    const allm_error *error = l->step->ops->error(l->step);
    if (error) {
        on_failure(l, error);   /* it is copied: the step may go */
        free_step(l);
        return;
    }
    l->checked = allm_thread_count(l->thread);
}

/* The result of a turn, held as long as the loop. */
static bool take_step(struct turns *l)
{
    struct turns_step *one = arena_zero(home_arena(l->setup.home), sizeof *one);
    if (!one || !home_hold(l->setup.home, step_home(l->step)))
        return false;
    const struct tool_result *halt = step_halt(l->step);
    one->step = step_result(l->step);
    one->halt = halt ? result_copy(l->setup.home, halt) : NULL;
    if (halt && !one->halt)
        return false;
    if (l->newest)
        l->newest->next = one;
    else
        l->steps = one;
    l->newest = one;
    l->step_count++;
    return true;
}

static allm_verdict verdict_of(struct turns *l, const allm_context *c)
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
            turns_error(l, ALLM_ERR_ENGINE, v.reason,
                        "the stages of the turn decided nothing; the last "
                        "one must call allm_context_decide()");
    }
    return v;
}

/* The conversation behind a turn becomes ours. */
static bool advance(struct turns *l)
{
    allm_thread *next = allm_thread_copy(turns_last(l)->thread);
    if (!next)
        return false;
    allm_thread_free(l->thread);
    l->thread = next;
    return true;
}

/* An answer that is not good enough: the model shall see it. */
static bool echo_answer(struct turns *l, const allm_context *c)
{
    if (l->setup.keep_answer)
        return true;            /* it is there */
    allm_message *m = context_assistant(c);
    bool ok = m && allm_thread_append(l->thread, m) == ALLM_OK;
    allm_message_free(m);
    return ok;
}

/* Do as the verdict says. */
static void act(struct turns *l, const allm_context *c, const allm_verdict *v)
{
    bool go_on = v->decision == ALLM_DECISION_CONTINUE ||
                 v->decision == ALLM_DECISION_RETRY;
    bool failed = v->decision == ALLM_DECISION_ERROR;
    bool echo = v->decision == ALLM_DECISION_RETRY &&
                c->decision == ALLM_DECISION_DONE;
    if ((!failed || l->front->keeps_failed) && !advance(l)) {
        turns_fail(l, status_nomem());
        return;
    }
    if (!go_on) {
        settle(l, v);
        return;
    }
    if ((echo && !echo_answer(l, c)) ||
        (v->say && *v->say && !turns_say(l, v->say))) {
        turns_fail(l, status_nomem());
        return;
    }
    if (turns_counts(l, v))
        l->turn++;
    if (c->decision == ALLM_DECISION_CONTINUE)
        l->tool_calls += c->call_count;
    l->state = OPENING;
}

static void decide_next(struct turns *l, const allm_context *c)
{
    allm_verdict v = verdict_of(l, c);
    policies_after(l, c, &v);
    if (l->state != FAILED)
        act(l, c, &v);
}

/* The time of the whole call was over while tools ran: the turn counts, and
 * nobody is asked what to do. */
static void end_late(struct turns *l, const allm_context *c)
{
    if (!advance(l)) {
        turns_fail(l, status_nomem());
        return;
    }
    l->tool_calls += c->call_count;
    settle_error(l, "timeout", setup_late(&l->setup));
}

/* A turn is over: what now? */
static void judge(struct turns *l)
{
    const allm_context *c = l->step ? step_context(l->step) : NULL;
    const allm_error *error = l->step ? l->step->ops->error(l->step) : NULL;
    if (!c || !take_step(l)) {
        turns_fail(l, status_nomem());
        free_step(l);
        return;
    }
    if (error)
        l->error = setup_keep_error(&l->setup, error);
    usage_sum(&l->usage, turns_last(l)->response->usage);
    if (l->front->observe)
        l->front->observe(l, c);
    if (step_was_cut(l->step))
        end_late(l, c);
    else
        decide_next(l, c);
    free_step(l);
}

/* ---------------------------------------------------------------- pulling --- */

static allm_status pull(struct turns *l, allm_event **event, int64_t *again_ns)
{
    if (!l->step) {             /* never: it was opened */
        turns_fail(l, status_nomem());
        return ALLM_OK;
    }
    allm_status status = l->step->ops->next(l->step, event, again_ns);
    if (status < 0) {
        on_failure(l, l->step->ops->error(l->step));
        free_step(l);
        return ALLM_OK;
    }
    if (status == ALLM_EVENT && (*event)->type == ALLM_EV_STEP_COMPLETED)
        l->state = JUDGING;     /* when the next event is asked for */
    return status;
}

/* The chat's span ends with its result. */
static void end_span(struct turns *l)
{
    spans_end_with(&l->span, &l->turn_arena, "chat_result", &chat_result_shape,
                   l->chat);
}

static allm_status close_loop(struct turns *l, allm_event **event)
{
    if (!l->front->finish(l)) {
        turns_fail(l, status_nomem());
        return ALLM_ERR_NOMEM;
    }
    l->last = (allm_event){ .size = sizeof l->last,
                            .type = ALLM_EV_CHAT_COMPLETED,
                            .chat_result = l->chat };
    *event = &l->last;
    l->state = ENDED;
    end_span(l);
    return ALLM_EVENT;
}

static allm_status loop_next(struct machine *m, allm_event **event,
                             int64_t *again_ns)
{
    struct turns *l = of(m);
    if (!l->pulled)
        setup_start_time(&l->setup);
    l->pulled = true;
    for (;;) {
        allm_status status = ALLM_OK;
        switch (l->state) {
        case OPENING:
            if (l->setup.waker->held && !setup_late(&l->setup))
                return ALLM_AGAIN;
            open_turn(l);
            break;
        case STEPPING: status = pull(l, event, again_ns); break;
        case JUDGING:  judge(l); break;
        case CLOSING:  return close_loop(l, event);
        case ENDED:    return ALLM_OK;
        default:       return l->error->kind;
        }
        if (status != ALLM_OK)
            return status;
    }
}

/* ---------------------------------------------------------------- results --- */

static const allm_step_result **step_list(struct turns *l, struct arena *a)
{
    const allm_step_result **list =
        arena_zero(a, (l->step_count + 1) * sizeof *list);
    size_t n = 0;
    for (const struct turns_step *s = l->steps; list && s; s = s->next)
        list[n++] = s->step;
    return list;
}

allm_chat_result *turns_chat_result(struct turns *l, const char *reason,
                                    const allm_json *metadata)
{
    struct arena a;
    const allm_step_result *last = turns_last(l);
    const struct tool_result *halt = turns_halt(l);
    arena_init(&a, l->mem);
    bool asks = !strcmp(reason, HALTED_ASK_USER) && halt &&
                halt->outcome.kind == OUTCOME_QUESTION;
    const allm_step_result **steps = step_list(l, &a);
    allm_chat_result *r = NULL;
    if (steps && metadata)
        r = allm_chat_result_new(
            ALLM(chat_result, .thread = l->thread, .steps = steps,
                 .step_count = l->step_count,
                 .final_response = last ? last->response : NULL,
                 .halted_reason = reason,
                 .pending_question = asks ? halt->outcome.question : NULL,
                 .pending_tool_call_id = asks ? halt->view.call->id : NULL,
                 .error = l->verdict.error, .metadata = metadata));
    arena_release(&a);
    if (r && shape_error(r)) {
        allm_chat_result_free(r);
        r = NULL;
    }
    return r;
}

/* The thread is that of the last step: what was said for a turn that did not
 * come to its end has not been said.  Without a step, the answer so far. */
static void trim_partial(struct turns *l, const allm_step_result *part)
{
    const allm_step_result *last = turns_last(l);
    allm_chat_result with = *l->chat;
    if (last)
        with.thread = last->thread;
    else if (part && part->response)
        with.final_response = part->response;
    else
        return;
    allm_chat_result *all = allm_chat_result_new(&with);
    allm_chat_result_free(l->chat);
    l->chat = all;
}

/* Stopped in the middle: what there is, and that it was cancelled. */
static void make_partial(struct turns *l, const char *reason)
{
    const allm_step_result *part = l->step ? step_result(l->step) : NULL;
    bool whole = l->state == JUDGING;
    l->verdict = (allm_verdict){ .size = sizeof l->verdict,
                                 .decision = ALLM_DECISION_HALT,
                                 .reason = reason,
                                 .error = l->error };
    if (whole && part && take_step(l) && !advance(l))
        l->error = status_nomem();
    l->chat = turns_chat_result(l, reason, json_empty_object());
    if (l->chat)
        trim_partial(l, part);
}

static const allm_error cancelled_error = {
    .size = sizeof(allm_error),
    .kind = ALLM_ERR_STREAM,
    .reason = "cancelled",
    .message = "the call was cancelled",
};

static void loop_stop(struct machine *m, bool cancelled)
{
    struct turns *l = of(m);
    const allm_error *told = l->step ? l->step->ops->error(l->step) : NULL;
    if (told && l->state != ENDED && l->state != FAILED)
        l->error = setup_keep_error(&l->setup, told);
    if (l->step)
        l->step->ops->stop(l->step, cancelled);
    if (l->state == ENDED || l->state == FAILED)
        return;
    make_partial(l, l->error ? HALTED_ERROR : HALTED_CANCELLED);
    if (cancelled)
        l->error = &cancelled_error;
    l->state = ENDED;
    if (!l->chat)
        turns_fail(l, status_nomem());
    end_span(l);
}

static void loop_free(struct machine *m)
{
    struct turns *l = of(m);
    struct mem mem = l->mem;
    free_step(l);
    policies_close(l);
    if (l->front->release && l->private)
        l->front->release(l);
    trace_end(&l->span, NULL);
    allm_chat_result_free(l->chat);
    allm_thread_free(l->thread);
    arena_release(&l->turn_arena);
    setup_release(&l->setup);
    mem_free(mem, l, sizeof *l);
}

static const allm_error *loop_last_error(const struct machine *m)
{
    const struct turns *l = look(m);
    const allm_error *of_step = l->step ? l->step->ops->error(l->step) : NULL;
    return l->state != FAILED && of_step ? of_step : l->error;
}

static bool loop_failed(const struct machine *m, int64_t *again_ns)
{
    const struct turns *l = look(m);
    if (l->step)
        return l->step->ops->failed(l->step, again_ns);
    if (l->state != OPENING)
        return l->error != NULL;
    *again_ns = l->setup.late_ns;
    return setup_late(&l->setup) != NULL;
}

static const allm_response *loop_response(const struct machine *m)
{
    const struct turns *l = look(m);
    return l->chat && l->chat->final_response ? l->chat->final_response : NULL;
}

static const char *loop_request_id(const struct machine *m)
{
    return look(m)->setup.request_id;
}

static const void *loop_result(const struct machine *m,
                               enum machine_result which)
{
    const struct turns *l = look(m);
    if (which == MACHINE_CHAT)
        return l->chat;
    return which == MACHINE_AGENT && l->front->result ? l->front->result(l)
                                                      : NULL;
}

static const char *loop_output(const struct machine *m, const char *id,
                               size_t *len)
{
    return tool_output_find(&look(m)->setup.whole, id, len);
}

static const struct machine_ops ops = {
    .output = loop_output,
    .next = loop_next,
    .stop = loop_stop,
    .free = loop_free,
    .error = loop_last_error,
    .failed = loop_failed,
    .response = loop_response,
    .request_id = loop_request_id,
    .result = loop_result,
};

/* -------------------------------------------------------------- beginning --- */

static struct turns *make(const allm_engine *e, const struct turns_front *front)
{
    struct mem mem = engine_core(e)->mem;
    struct turns *l = mem_alloc(mem, sizeof *l);
    if (!l)
        return NULL;
    *l = (struct turns){ .machine = { &ops }, .front = front, .mem = mem };
    arena_init(&l->turn_arena, mem);
    l->usage.size = sizeof l->usage;
    return l;
}

/* Everything that can fail before the network. */
static const allm_error *prepare(
    struct turns *l, const allm_thread *thread, size_t private_size,
    const allm_error *(*begin)(struct turns *, const void *), const void *given)
{
    struct setup *u = &l->setup;
    l->private = arena_zero(home_arena(u->home), private_size + 1);
    l->thread = allm_thread_copy(thread);
    l->began_ns = clock_now_ns(engine_core(u->engine)->clock);
    l->max_turns = u->max_turns;
    l->pass_options = u->options;
    if (!l->private || !l->thread)
        return status_nomem();
    const allm_error *error = begin(l, given);
    if (error)
        return error;
    if (!policies_gather(l))
        return status_nomem();
    if (u->replay)
        l->turn = u->replay->turn;
    if (u->about)
        trace_begin(&l->span, &u->trace, "chat", u->request_id, u->model,
                    u->about);
    return NULL;
}

allm_stream *turns_stream(const allm_engine *e, const allm_thread *thread,
                          const allm_call_opts *opts,
                          const struct turns_front *front, size_t private_size,
                          const allm_error *(*begin)(struct turns *l,
                                                     const void *given),
                          const void *given)
{
    if (!e || !thread)
        return refused_missing(e, "invalid_thread", "thread");
    const struct engine_core *core = engine_core(e);
    allm_stream *stream = stream_new(core->mem, core->clock, core->attachments);
    struct turns *l = stream ? make(e, front) : NULL;
    if (!l) {
        allm_stream_free(stream);
        return NULL;
    }
    const allm_error *error = setup_init(&l->setup, e, thread, opts, stream);
    if (!l->setup.home) {
        loop_free(&l->machine);
        return stream_begin(stream, NULL);
    }
    if (!error)
        error = prepare(l, thread, private_size, begin, given);
    if (error)
        turns_fail(l, error);
    else
        open_turn(l);
    return stream_begin(stream, &l->machine);
}
