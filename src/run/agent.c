/*
 * agent.c - allm_agent(): turns with the rules of an agent
 *
 * Chats and agents run the same machine (turns.c) with different rules:
 *
 *      rule               chat                       agent
 *      tools are called   finish reason tool_calls   the answer has calls
 *      unknown tool       an error                   reported to the model
 *      arguments          validated on request       validated, faults are
 *                                                    reported to the model
 *      tools run          in parallel, 30 s          one by one, no timeout
 *      last turn          its tools run              they do not: an error
 *      last answer        appended                   not appended
 *
 * After an error, the result has the thread as it was before the failed turn.
 */
#include "base/buf.h"
#include "base/caller_struct.h"
#include "base/status.h"
#include "data/chat_result.h"
#include "data/encode.h"
#include "data/error.h"
#include "data/response.h"
#include "data/thread.h"
#include "data/tool_call.h"
#include "data/usage.h"
#include "run/turns.h"
#include "json/build.h"
#include "json/json.h"

enum { MAX_ITERATIONS = 10, MAX_BLANKS = 3, MAX_REPEATS = 3 };

struct agent {
    allm_agent_opts opts;       /* its strings are in the home */
    uint32_t max_blanks, max_repeats;
    uint32_t blanks;            /* blank answers in this iteration */
    allm_finish blank_finish[16];
    uint32_t repeats;
    char *fingerprint;          /* the errors of the last turn, in the home */
    size_t fingerprint_len;
    const allm_json *trace;     /* of the last turn */
    const allm_json *terminal;  /* metadata to add to the response */
    struct allm_home *home;     /* of the result */
    allm_agent_result *result;
};

static struct agent *agent_of(const struct turns *t)
{
    return t->front_state;
}

/* ----------------------------------------------------- circuit breaker --- */

/* Join the error messages of a turn; empty if no tool failed. */
static struct slice join_errors(const allm_context *c)
{
    struct buf text = buf_in(c->arena, SIZE_MAX / 2);
    for (size_t i = 0; i < c->result_count; i++) {
        const allm_call_result *r = c->results[i];
        if (!r->is_error)
            continue;
        buf_text(&text, text.len ? " | " : "");
        buf_add(&text, (struct slice){ r->content, r->content_len });
    }
    return buf_slice(&text);
}

static bool count_repeats(struct agent *a, struct turns *t, struct slice now)
{
    struct slice before = { a->fingerprint, a->fingerprint_len };
    if (!now.len)
        a->repeats = 0;
    else if (a->fingerprint && slice_eq(before, now))
        a->repeats++;
    else
        a->repeats = 1;
    if (!slice_eq(before, now) || !a->fingerprint) {
        a->fingerprint = arena_copy(home_arena(t->setup.home), now);
        a->fingerprint_len = now.len;
    }
    return a->repeats >= a->max_repeats;
}

static allm_status break_circuit(void *state, const allm_loop_view *view,
                                 const allm_context *c, allm_verdict *v,
                                 void *ud)
{
    struct turns *t = ud;
    struct agent *a = agent_of(t);
    (void)state;
    (void)view;
    if (v->decision != ALLM_DECISION_CONTINUE ||
        (a->opts.flags & ALLM_AGENT_NO_BREAKER))
        return ALLM_OK;
    struct slice now = join_errors(c);
    if (!count_repeats(a, t, now))
        return ALLM_OK;
    v->decision = ALLM_DECISION_ERROR;
    v->reason = "circuit_breaker";
    v->error = turns_error(t, ALLM_ERR_ENGINE, v->reason,
                           "Tool error repeated %u+ times: \"%.*s\"",
                           (unsigned)a->max_repeats,
                           (int)(now.len > 8192 ? 8192 : now.len), now.ptr);
    return ALLM_OK;
}

/* ------------------------------------------------------- blank answers --- */

/* {"iteration", "attempts", "finish_reasons", "provider", "model"} */
static const allm_json *blank_details(struct turns *t, const allm_context *c)
{
    const struct agent *a = agent_of(t);
    const struct registry_row *row = engine_row_for(t->setup.engine,
                                                    t->setup.model, NULL);
    const char *model = c->response->model ? c->response->model
                                           : t->setup.model;
    struct build b = build_object_in(home_arena(t->setup.home));
    build_uint_at(&b, "iteration", t->turn);
    build_uint_at(&b, "attempts", a->blanks);
    build_array_at(&b, "finish_reasons");
    for (uint32_t i = 0; i < a->blanks && i < 16; i++)
        build_text_or_null(&b, response_finish_words.word[a->blank_finish[i]]);
    build_end(&b);
    build_text_copy_at(&b, "provider",
                       slice_of(row && row->name ? row->name : ""));
    build_text_copy_at(&b, "model", slice_of(model ? model : ""));
    return build_finish(&b);
}

static void fail_blank(struct turns *t, const allm_context *c, allm_verdict *v)
{
    allm_error *e = status_draft(
        home_arena(t->setup.home), ALLM_ERR_ENGINE, "empty_stop",
        "the model returned %u blank answers in a row; set blank_stop_nudge to "
        "tell it what to do",
        (unsigned)agent_of(t)->blanks);
    if (e)
        e->metadata = blank_details(t, c);
    v->decision = ALLM_DECISION_ERROR;
    v->reason = "empty_stop";
    v->error = e ? e : status_nomem();
}

static allm_status count_blanks(void *state, const allm_loop_view *view,
                                const allm_context *c, allm_verdict *v,
                                void *ud)
{
    struct turns *t = ud;
    struct agent *a = agent_of(t);
    (void)state;
    (void)view;
    if (c->decision != ALLM_DECISION_RETRY) {
        if (v->decision == ALLM_DECISION_CONTINUE)
            a->blanks = 0;
        return ALLM_OK;
    }
    if (a->blanks < 16)
        a->blank_finish[a->blanks] = c->response->finish_reason;
    a->blanks++;
    if (a->blanks >= a->max_blanks)
        fail_blank(t, c, v);
    else
        v->say = a->opts.blank_stop_nudge;
    return ALLM_OK;
}

/* ---------------------------------------------------------- turn limit --- */

/* Only needed if the pipeline has no budget stage.  The check runs before a
 * turn, so every turn that ran is complete and counts. */
static allm_status stop_at_limit(void *state, const allm_loop_view *view,
                                 allm_verdict *v, void *ud)
{
    struct turns *t = ud;
    (void)state;
    if (view->turn < view->max_turns)
        return ALLM_OK;
    v->decision = ALLM_DECISION_ERROR;
    v->reason = "max_iterations_reached";
    v->error = turns_error(t, ALLM_ERR_ENGINE, v->reason,
                           "the agent did not finish within %u turns; raise "
                           "max_iterations",
                           (unsigned)view->max_turns);
    return ALLM_OK;
}

static const allm_policy breaker = { .size = sizeof breaker,
                                     .name = "breaker",
                                     .after_turn = break_circuit };
static const allm_policy blanks = { .size = sizeof blanks,
                                    .name = "blank_stop",
                                    .after_turn = count_blanks };
static const allm_policy limit = { .size = sizeof limit,
                                   .name = "max_iterations",
                                   .before_turn = stop_at_limit };

static const allm_policy *const first_policies[] = {
    &breaker, &blanks, &repeat_policy, &output_policy, NULL
};
static const allm_policy *const last_policies[] = { &limit, NULL };

/* ------------------------------------------------------------- results --- */

/* {"terminal_tool", "terminal_args", "terminal_tool_call"} */
static const allm_json *terminal_metadata(struct turns *t,
                                          const allm_tool_call *call)
{
    struct arena *a = home_arena(t->setup.home);
    struct build b = build_object_in(a);
    build_text_copy_at(&b, "terminal_tool", slice_of(call->name));
    build_value_copy_at(&b, "terminal_args", call->arguments);
    build_value_at(&b, "terminal_tool_call",
                   encode_to_json(a, &tool_call_shape, call, ALLM_FORM_TAGGED,
                                  NULL));
    return build_finish(&b);
}

/* Did all stages of the turn run? */
static bool ran_to_end(const allm_context *c)
{
    bool failed = c->reason && !strcmp(c->reason, REASON_PIPELINE);
    return c->decision != ALLM_DECISION_NONE && !failed;
}

static void observe_turn(struct turns *t, const allm_context *c)
{
    struct agent *a = agent_of(t);
    if (c->response->finish_reason == ALLM_FINISH_ERROR)
        return;                 /* The model failed, so no stage ran. */
    a->trace = json_copy(home_arena(t->setup.home), allm_context_trace(c));
    if (c->terminal_call)
        a->terminal = terminal_metadata(t, c->terminal_call);
    if (a->opts.on_iteration && ran_to_end(c))
        a->opts.on_iteration(c, a->opts.on_iteration_ud);
    size_t calls = 0;
    allm_context_tool_calls(c, &calls);
    if (c->decision == ALLM_DECISION_CONTINUE)
        trace_agent(&t->setup.trace, t->setup.request_id, "loop_iteration",
                    allm_context_iteration(c), calls);
}

/* {"blank_stops": [finish reasons], "repeats": n, "errors": "..."} */
static void count_agent(const struct turns *t, struct build *b)
{
    const struct agent *a = agent_of(t);
    struct slice errors = { a->fingerprint, a->fingerprint_len };
    build_array_at(b, "blank_stops");
    for (uint32_t i = 0; i < a->blanks; i++)
        build_uint(b, i < 16 ? (uint64_t)a->blank_finish[i] : 0);
    build_end(b);
    build_uint_at(b, "repeats", a->repeats);
    if (errors.ptr)
        build_text_at(b, "errors", errors);
}

static const allm_error *restore_agent(struct turns *t, const allm_json *counts)
{
    struct agent *a = agent_of(t);
    const allm_json *stops = allm_json_get(counts, "blank_stops");
    struct slice errors = json_slice(allm_json_get(counts, "errors"));
    int64_t n = 0;
    for (const allm_json *v = NULL; (v = allm_json_next(stops, v));) {
        if (allm_json_int64(v, &n) && a->blanks < 16 && n >= 0 &&
            n <= ALLM_FINISH_OTHER)
            a->blank_finish[a->blanks] = (allm_finish)n;
        a->blanks++;
    }
    n = 0;
    allm_json_int64(allm_json_get(counts, "repeats"), &n);
    a->repeats = n > 0 ? (uint32_t)n : 0;
    if (!errors.ptr)
        return NULL;
    a->fingerprint = arena_copy(home_arena(t->setup.home), errors);
    a->fingerprint_len = errors.len;
    return a->fingerprint ? NULL : status_nomem();
}

/* The last response, with the metadata that the agent adds. */
static const allm_response *final_response(struct turns *t)
{
    struct agent *a = agent_of(t);
    const allm_step_result *step = turns_last_step(t);
    struct arena *arena = home_arena(a->home);
    if (!step || !step->response)
        return NULL;
    allm_response r = *step->response;
    const allm_json *m = r.metadata ? r.metadata : json_empty_object();
    r.home = NULL;
    if (a->terminal)
        m = json_merge(arena, m, a->terminal);
    if (a->blanks && t->verdict.decision == ALLM_DECISION_DONE) {
        struct build b = build_in(arena);
        build_uint(&b, a->blanks);
        m = json_set(arena, m, SLICE("blank_stop_retries"), build_done(&b));
    }
    r.metadata = m;
    return m ? shape_copy(a->home, &response_shape, &r, NULL) : NULL;
}

static const char *agent_reason(const struct turns *t)
{
    const char *reason = t->verdict.reason ? t->verdict.reason
                                           : HALTED_COMPLETED;
    const allm_step_result *step = turns_last_step(t);
    bool broke = step && step->response &&
                 step->response->finish_reason == ALLM_FINISH_ERROR;
    bool late = !strcmp(reason, "timeout"); /* Timeout between two answers. */
    if (t->verdict.decision != ALLM_DECISION_ERROR || late)
        return reason;
    return t->open_failed || broke ? "llm_error" : reason;
}

static bool make_result(struct turns *t)
{
    struct agent *a = agent_of(t);
    a->home = home_new(t->mem, 1024);
    if (!a->home)
        return false;
    struct arena *arena = home_arena(a->home);
    allm_agent_result *r = arena_zero(arena, sizeof *r);
    if (!r)
        return false;
    *r = (allm_agent_result){ .size = sizeof *r, .home = a->home,
                              .iterations = t->model_turns,
                              .tool_calls = t->tool_calls,
                              .trace = json_copy(arena, a->trace),
                              .reason = arena_text(arena, agent_reason(t)) };
    r->response = final_response(t);
    if (thread_own.share(a->home, t->thread, &r->messages))
        return false;
    const allm_error *error = NULL;
    r->usage = shape_copy(a->home, &usage_shape, &t->usage, &error);
    if (t->verdict.error)
        r->error = error_copy(a->home, t->verdict.error);
    r->metadata = t->verdict.metadata ? json_copy(arena, t->verdict.metadata)
                                      : json_empty_object();
    a->result = r;
    return r->usage && !arena->broken && (r->response || !t->step_count);
}

/* Did the agent finish or reach a limit, rather than fail? */
static bool is_complete(const struct turns *t)
{
    const char *reason = agent_reason(t);
    return t->verdict.decision != ALLM_DECISION_ERROR ||
           !strcmp(reason, REASON_BUDGET) ||
           !strcmp(reason, "max_iterations_reached");
}

static bool finish_agent(struct turns *t)
{
    struct arena a = arena_in(t->mem);
    const allm_step_result *step = turns_last_step(t);
    const allm_json *m = t->verdict.metadata ? t->verdict.metadata
                                             : json_empty_object();
    if (step && t->verdict.decision == ALLM_DECISION_HALT &&
        allm_json_count(step->metadata))
        m = json_merge(&a, step->metadata, m);
    bool failed = t->verdict.decision == ALLM_DECISION_ERROR;
    bool ok = make_result(t);
    if (is_complete(t))
        trace_agent(&t->setup.trace, t->setup.request_id, "complete",
                    t->model_turns, t->tool_calls);
    if (ok)
        t->chat =
            turns_chat_result(t, failed ? HALTED_ERROR : t->verdict.reason, m);
    if (ok && agent_of(t)->result && m)
        agent_of(t)->result->metadata = json_copy(home_arena(agent_of(t)->home),
                                                  m);
    arena_release(&a);
    return ok && t->chat && agent_of(t)->result &&
           agent_of(t)->result->metadata;
}

/* A cancelled agent makes its result when the caller requests it. */
static const void *agent_result(const struct turns *t)
{
    struct agent *a = agent_of(t);
    struct turns *mine = (struct turns *)(uintptr_t)t;
    if (!a->result && !a->home && !make_result(mine))
        return NULL;
    return a->result;
}

static void release_agent(struct turns *t)
{
    home_drop(agent_of(t)->home);
}

static const struct turns_front agent_front = {
    .first = first_policies,
    .last = last_policies,
    .observe = observe_turn,
    .count = count_agent,
    .restore = restore_agent,
    .finish = finish_agent,
    .release = release_agent,
    .result = agent_result,
    .failure_is_result = true,
};

/* ------------------------------------------------------------- options --- */

/* An option may be set in the struct or in json, not in both. */
static const allm_error *check_set_once(struct turns *t, bool a, bool b,
                                        const char *name)
{
    return a && b ? turns_error(t, ALLM_ERR_MISUSE, "invalid_option",
                                "option %s is set in the struct and in json; "
                                "set it in one of them",
                                name)
                  : NULL;
}

static const allm_error *read_texts(struct turns *t)
{
    struct agent *a = agent_of(t);
    struct options *o = &t->setup.options;
    struct arena *home = home_arena(t->setup.home);
    const allm_error *error = check_set_once(t, a->opts.terminal_tool,
                                             o->terminal_tool, "terminal_tool");
    if (!error)
        error = check_set_once(t, a->opts.blank_stop_nudge, o->blank_stop_nudge,
                               "blank_stop_nudge");
    if (error)
        return error;
    a->opts.terminal_tool = arena_text(home, o->terminal_tool
                                                 ? o->terminal_tool
                                                 : a->opts.terminal_tool);
    a->opts.blank_stop_nudge = arena_text(home, o->blank_stop_nudge
                                                    ? o->blank_stop_nudge
                                                    : a->opts.blank_stop_nudge);
    return home->broken ? status_nomem() : NULL;
}

static uint32_t limit_or_default(int64_t from_json, uint32_t from_struct,
                                 uint32_t otherwise)
{
    if (from_json)
        return options_small(from_json);
    return from_struct ? from_struct : otherwise;
}

static const allm_error *read_numbers(struct turns *t)
{
    struct agent *a = agent_of(t);
    const struct options *o = &t->setup.options;
    const allm_error *error = check_set_once(t, a->opts.max_iterations,
                                             o->max_iterations,
                                             "max_iterations");
    if (!error)
        error = check_set_once(t, a->opts.max_blank_stops, o->max_blank_stops,
                               "max_blank_stops");
    if (!error)
        error = check_set_once(t, a->opts.max_repeats, o->max_repeats,
                               "max_repeats");
    t->max_turns = limit_or_default(o->max_iterations, a->opts.max_iterations,
                                    MAX_ITERATIONS);
    a->max_blanks = limit_or_default(o->max_blank_stops,
                                     a->opts.max_blank_stops, MAX_BLANKS);
    a->max_repeats = limit_or_default(o->max_repeats, a->opts.max_repeats,
                                      MAX_REPEATS);
    return error;
}

/* Set the rules listed at the top of this file. */
static void fill_agent_terms(struct turns *t)
{
    struct agent *a = agent_of(t);
    struct setup *u = &t->setup;
    const allm_json *check = allm_json_get(u->options.all,
                                           "validate_arguments");
    bool any = (a->opts.flags & ALLM_AGENT_ANY_ARGUMENTS) ||
               (check && !allm_json_true(check));
    u->terms.by_calls = true;
    u->terms.tell_unknown = true;
    u->terms.check_arguments = !any;
    u->terms.guard = true;
    u->terms.retry_blank = true;
    u->terms.terminal_tool = a->opts.terminal_tool;
    u->style = ENCODER_AGENT;
    if (!u->options.tool_timeout_ms)
        u->options.tool_timeout_ms = UINT32_MAX;
    if (!u->options.max_concurrency && !(a->opts.flags & ALLM_AGENT_PARALLEL))
        u->options.max_concurrency = 1;
    t->pass_options = u->options;
}

static const allm_error *begin_agent(struct turns *t, const void *front_opts)
{
    struct agent *a = agent_of(t);
    if (!caller_struct_take(&a->opts, sizeof a->opts, front_opts))
        return turns_error(t, ALLM_ERR_MISUSE, "struct_size",
                           "the size of the agent options is wrong; fill them "
                           "with ALLM(agent_opts, ...)");
    const allm_error *error = read_texts(t);
    if (!error)
        error = read_numbers(t);
    fill_agent_terms(t);
    return error;
}

allm_stream *allm_agent(const allm_engine *e, const allm_thread *thread,
                        const allm_agent_opts *opts)
{
    const allm_call_opts *call = opts && MEM_REACHES(opts, call) ? opts->call
                                                                 : NULL;
    return turns_stream(e, thread, call, &agent_front, sizeof(struct agent),
                        begin_agent, opts);
}
