/*
 * chat.c - steps until the model is done, or something stops it
 *
 * The order in which a chat ends; the first that holds:
 *
 *   1  a tool asks the user           ask_user
 *   2  a tool failed, and that halts  tool_error
 *   3  a tool halts                   its own word
 *   4  calls wait for the caller      manual_tool_calls
 *   5  stop, length, content_filter   completed
 *   6  the answer broke off           error
 *   7  halt_when says so              halt_when
 *   8  it was the last turn           max_turns
 *
 * One to six are the decision of the turn's last stage; policies of the caller
 * come behind them, then seven and eight, which are policies, too.
 *
 * structured_finalize runs the chat without its response_format first, and
 * asks once more, with it and without tools, when that has ended well.
 */
#include "base/status.h"
#include "data/chat_result.h"
#include "data/encode.h"
#include "data/error.h"
#include "data/tool_call.h"
#include "run/step.h"
#include "run/turns.h"
#include "tool/result.h"
#include "json/build.h"
#include "json/json.h"

#define NUDGE "Now provide your final structured response."

struct chat {
    const char *pass_1_halted;      /* once pass 2 has begun, or may not */
    struct options final;           /* of pass 2 */
    /* what pass 1 would have given, should pass 2 fail */
    allm_verdict first;
    allm_thread *first_thread;
    struct turns_step *first_newest;
    size_t first_count;
    size_t unknown_count;
    const allm_json *unknown;       /* calls that may have happened */
};

static struct chat *chat_of(const struct turns *l)
{
    return l->private;
}

/* --------------------------------------------------------------- policies --- */

static const allm_json *number_metadata(struct turns *l, const char *key,
                                        uint32_t n)
{
    struct build b;
    build_init(&b, home_arena(l->setup.home));
    build_object(&b);
    build_key(&b, slice_of(key));
    build_uint(&b, n);
    build_end(&b);
    return build_done(&b);
}

static allm_status ask_halt_when(void *state, const allm_loop_view *view,
                                 const allm_context *c, allm_verdict *v,
                                 void *ud)
{
    struct turns *l = ud;
    const allm_call_opts *o = &l->setup.options.given;
    (void)state;
    (void)c;
    if (v->decision != ALLM_DECISION_CONTINUE || !o->halt_when ||
        !o->halt_when(view->step, o->halt_when_ud))
        return ALLM_OK;
    v->decision = ALLM_DECISION_HALT;
    v->reason = HALTED_HALT_WHEN;
    v->metadata = number_metadata(l, "halt_when_step_index", view->turn);
    return ALLM_OK;
}

static allm_status count_turns(void *state, const allm_loop_view *view,
                               const allm_context *c, allm_verdict *v, void *ud)
{
    struct turns *l = ud;
    (void)state;
    (void)c;
    if (!turns_counts(l, v) || view->turn + 1 < view->max_turns)
        return ALLM_OK;
    v->decision = ALLM_DECISION_HALT;
    v->reason = HALTED_MAX_TURNS;
    /* a second pass has one turn of its own */
    v->metadata = number_metadata(l, "max_turns",
                                  l->pass == 2 ? 1 : view->max_turns);
    return ALLM_OK;
}

static const allm_policy halt_when = { .size = sizeof halt_when,
                                       .name = "halt_when",
                                       .after_turn = ask_halt_when };
static const allm_policy max_turns = { .size = sizeof max_turns,
                                       .name = "max_turns",
                                       .after_turn = count_turns };

static const allm_policy *const first[] = { &repeat_policy, &output_policy,
                                            NULL };
static const allm_policy *const last[] = { &halt_when, &max_turns, NULL };

/* ----------------------------------------------------------------- passes --- */

static bool goes_on(const char *reason)
{
    return !strcmp(reason, HALTED_COMPLETED) ||
           !strcmp(reason, HALTED_MAX_TURNS) ||
           !strcmp(reason, HALTED_HALT_WHEN);
}

static bool is_about_tools(struct slice name)
{
    static const char *const names[] = { "tools", "tool_choice", "toolConfig",
                                         "parallel_tool_calls", "extra_body" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (slice_is(name, names[i]))
            return true;
    return false;
}

static void put_others(struct build *b, const allm_json *options)
{
    for (const allm_json *k = NULL; (k = allm_json_next(options, k));) {
        if (is_about_tools(json_slice(k)))
            continue;
        build_key(b, json_slice(k));
        build_value(b, allm_json_value(k));
    }
}

/* Options in the provider's own terms without those about tools, which a
 * provider refuses where there are none.  NULL: no memory. */
static const allm_json *without_tools(struct arena *a, const allm_json *options)
{
    struct build b;
    const allm_json *extra = allm_json_get(options, "extra_body");
    build_init(&b, a);
    build_object(&b);
    put_others(&b, options);
    if (allm_json_type_of(extra) == ALLM_JSON_OBJECT) {
        build_key(&b, SLICE("extra_body"));
        build_object(&b);
        put_others(&b, extra);
        build_end(&b);
    }
    build_end(&b);
    return build_done(&b);
}

/* Pass 1 has ended.  True: pass 2 begins. */
static bool extend(struct turns *l)
{
    struct chat *chat = chat_of(l);
    const struct options *o = &l->setup.options;
    const char *nudge = o->structured_finalize_nudge;
    if (l->pass != 1)
        return false;
    chat->pass_1_halted = l->verdict.decision == ALLM_DECISION_ERROR
                              ? HALTED_ERROR
                              : l->verdict.reason;
    if (l->verdict.error || !goes_on(l->verdict.reason))
        return false;
    chat->first = l->verdict;
    chat->first_thread = allm_thread_copy(l->thread);
    chat->first_newest = l->newest;
    chat->first_count = l->step_count;
    if (!nudge)
        nudge = NUDGE;
    const allm_json *options = without_tools(home_arena(l->setup.home),
                                             l->setup.provider_options);
    if (!options || !chat->first_thread || (*nudge && !turns_say(l, nudge))) {
        turns_fail(l, status_nomem());
        return false;
    }
    l->setup.provider_options = options;
    l->pass = 2;
    l->pass_options = chat->final;
    l->no_tools = true;
    l->turn++;
    l->max_turns = l->turn + 1;
    return true;
}

/* {"pass_1_halted": reason, "pass_2_error": ...} */
static const allm_json *finalize_metadata(struct turns *l, struct arena *a,
                                          const allm_error *failed)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    build_key(&b, SLICE("pass_1_halted"));
    build_text(&b, slice_of(chat_of(l)->pass_1_halted));
    if (failed) {
        const allm_error *error = NULL;
        build_key(&b, SLICE("pass_2_error"));
        build_value(&b, encode_to_json(a, &error_shape, failed,
                                       ALLM_FORM_TAGGED, &error));
    }
    build_end(&b);
    return build_done(&b);
}

/* The model did not answer; an answer that a policy refuses is one. */
static bool answer_failed(const struct turns *l)
{
    return l->verdict.decision == ALLM_DECISION_ERROR &&
           (l->open_failed ||
            turns_last(l)->response->finish_reason == ALLM_FINISH_ERROR);
}

/* Pass 2 could not begin, or broke off: pass 1 counts. */
static const allm_error *fall_back(struct turns *l)
{
    struct chat *chat = chat_of(l);
    if (l->pass != 2 || !answer_failed(l))
        return NULL;
    const allm_error *failed = l->verdict.error;
    l->verdict = chat->first;
    l->newest = chat->first_newest;
    l->newest->next = NULL;
    l->step_count = chat->first_count;
    allm_thread_free(l->thread);
    l->thread = chat->first_thread;
    chat->first_thread = NULL;
    return failed;
}

/* ---------------------------------------------------------------- results --- */

static void put_all(struct build *b, const allm_json *object, const char *but)
{
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        if (json_is(k, but))
            continue;
        build_key(b, json_slice(k));
        build_value(b, allm_json_value(k));
    }
}

/* What the reason says about itself. */
static const allm_json *reason_metadata(struct turns *l, struct arena *a)
{
    const char *reason = l->verdict.reason;
    const allm_step_result *step = turns_last(l);
    const allm_json *calls =
        step ? allm_json_get(step->metadata, "manual_tool_calls") : NULL;
    struct build b;
    build_init(&b, a);
    build_object(&b);
    if (turns_halt(l) && l->verdict.decision == ALLM_DECISION_HALT)
        put_all(&b, step->metadata, "halted_reason");
    if (!strcmp(reason, HALTED_MANUAL)) {
        build_key(&b, SLICE("manual_turn_index"));
        build_uint(&b, l->turn);
        if (calls) {
            build_key(&b, SLICE("manual_tool_calls"));
            build_value(&b, calls);
        }
    }
    if (chat_of(l)->unknown) {
        build_key(&b, SLICE("unknown_tool_calls"));
        build_value(&b, chat_of(l)->unknown);
    }
    build_end(&b);
    return build_done(&b);
}

static const allm_json *all_metadata(struct turns *l, struct arena *a,
                                     const allm_error *pass_2)
{
    const allm_json *m = reason_metadata(l, a);
    if (m && l->verdict.metadata)
        m = json_merge(a, m, l->verdict.metadata);
    if (m && chat_of(l)->pass_1_halted)
        m = json_set(a, m, SLICE("structured_finalize"),
                     finalize_metadata(l, a, pass_2));
    return m;
}

/* The question becomes the assistant's last word. */
static bool append_question(struct turns *l, struct arena *a)
{
    const struct tool_result *halt = turns_halt(l);
    bool asked = halt && halt->outcome.kind == OUTCOME_QUESTION;
    struct build b;
    build_init(&b, a);
    build_object(&b);
    build_key(&b, SLICE("ask_user"));
    build_bool(&b, true);
    build_key(&b, SLICE("tool_call_id"));
    if (asked)
        build_text(&b, slice_of(halt->view.call->id));
    else
        build_null(&b);
    build_end(&b);
    allm_message *m =
        allm_message_new(ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                              .text = asked ? halt->outcome.question : "",
                              .metadata = build_done(&b)));
    bool ok = m && !allm_message_error(m) &&
              allm_thread_append(l->thread, m) == ALLM_OK;
    allm_message_free(m);
    return ok;
}

/* A tool error is the step's. */
static void take_error(struct turns *l)
{
    const allm_step_result *step = turns_last(l);
    if (!l->verdict.error && step && step->error &&
        !strcmp(l->verdict.reason, HALTED_TOOL_ERROR))
        l->verdict.error = step->error;
}

static bool finish(struct turns *l)
{
    struct arena a;
    arena_init(&a, l->mem);
    const allm_error *pass_2 = fall_back(l);
    if (l->verdict.decision == ALLM_DECISION_ERROR)
        l->verdict.reason = HALTED_ERROR;
    take_error(l);
    bool asks = turns_last(l) && !strcmp(l->verdict.reason, HALTED_ASK_USER);
    bool ok = !asks || append_question(l, &a);
    if (ok)
        l->chat = turns_chat_result(l, l->verdict.reason,
                                    all_metadata(l, &a, pass_2));
    arena_release(&a);
    return l->chat != NULL;
}

static void release(struct turns *l)
{
    allm_thread_free(chat_of(l)->first_thread);
}

/* Calls of a replayed turn that may have happened: kept for the result. */
static void observe(struct turns *l, const allm_context *c)
{
    size_t n = 0;
    const allm_tool_call *const *calls = step_unknown(l->step, &n);
    struct arena *a = home_arena(l->setup.home);
    struct build b;
    (void)c;
    if (!n)
        return;
    build_init(&b, a);
    build_array(&b);
    for (size_t i = 0; i < n; i++) {
        const allm_error *error = NULL;
        build_value(&b, encode_to_json(a, &tool_call_shape, calls[i],
                                       ALLM_FORM_TAGGED, &error));
    }
    build_end(&b);
    chat_of(l)->unknown = build_done(&b);
}

static const struct turns_front front = {
    .first = first,
    .last = last,
    .observe = observe,
    .extend = extend,
    .finish = finish,
    .release = release,
    .keeps_failed = true,
};

/* -------------------------------------------------------------- beginning --- */

/* Does the adapter want two passes for this request? */
static bool adapter_wants_two(const struct turns *l)
{
    const struct setup *u = &l->setup;
    const struct registry_row *row = engine_row_for(u->engine, u->model, NULL);
    const allm_request probe = { .size = sizeof probe,
                                 .tool_count = u->wire_count,
                                 .tools = u->wire,
                                 .response_format =
                                     u->options.response_format };
    return row && row->adapter->needs_finalize &&
           row->adapter->needs_finalize(&probe);
}

static const allm_error *begin(struct turns *l, const void *given)
{
    struct chat *chat = chat_of(l);
    struct setup *u = &l->setup;
    (void)given;
    u->keep_answer = true;
    chat->final = u->options;
    chat->final.tool_choice = NULL;     /* there are no tools to choose from */
    chat->final.tool_choice_map = NULL;
    if (!u->options.response_format) {
        u->finalize = u->options.structured_finalize;
        return NULL;            /* the request says what is missing */
    }
    if (!u->options.structured_finalize && !adapter_wants_two(l))
        return NULL;
    l->pass = 1;
    l->pass_options.response_format = NULL;
    return NULL;
}

allm_stream *allm_chat(const allm_engine *e, const allm_thread *thread,
                       const allm_call_opts *opts)
{
    return turns_stream(e, thread, opts, &front, sizeof(struct chat), begin,
                        NULL);
}
