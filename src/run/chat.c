/*
 * chat.c - allm_chat(): steps until the model is done or something stops it
 *
 * A chat ends for the first of these reasons that applies:
 *
 *   1  a tool asks the user              ask_user
 *   2  a tool failed, and errors halt    tool_error
 *   3  a tool halts                      the tool's own reason
 *   4  calls are left to the caller      manual_tool_calls
 *   5  stop, length, content_filter      completed
 *   6  the answer failed                 error
 *   7  halt_when returns true            halt_when
 *   8  it was the last turn              max_turns
 *
 * The last stage of the turn decides 1 to 6.  Then the policies of the caller
 * run, and after them those for 7 and 8.
 *
 * With structured_finalize, the chat first runs without its response_format.
 * If that pass ends well, a second one calls the model once more, with the
 * format and without tools.
 */
#include "base/status.h"
#include "data/chat_result.h"
#include "data/encode.h"
#include "data/error.h"
#include "data/metadata.h"
#include "data/thread.h"
#include "run/step.h"
#include "run/turns.h"
#include "tool/result.h"
#include "json/build.h"
#include "json/json.h"

#define NUDGE "Now provide your final structured response."

struct chat {
    const char *pass_1_halted;  /* set once pass 1 has ended; or NULL */
    struct options final_options;   /* of pass 2 */
    /* The result of pass 1, in case pass 2 fails. */
    allm_verdict pass_1_verdict;
    allm_thread *pass_1_thread;
    struct turns_step *pass_1_newest;
    size_t pass_1_step_count;
    const allm_json *unknown_calls; /* calls that may have happened */
};

static struct chat *chat_of(const struct turns *t)
{
    return t->front_state;
}

/* ------------------------------------------------------------ policies --- */

static const allm_json *number_metadata(struct turns *t, const char *key,
                                        uint32_t n)
{
    struct build b = build_object_in(home_arena(t->setup.home));
    build_uint_at(&b, key, n);
    return build_finish(&b);
}

static allm_status check_halt_when(void *state, const allm_loop_view *view,
                                   const allm_context *c, allm_verdict *v,
                                   void *ud)
{
    struct turns *t = ud;
    const allm_call_opts *o = &t->setup.options.given;
    (void)state;
    (void)c;
    if (v->decision != ALLM_DECISION_CONTINUE || !o->halt_when ||
        !o->halt_when(view->step, o->halt_when_ud))
        return ALLM_OK;
    v->decision = ALLM_DECISION_HALT;
    v->reason = HALTED_HALT_WHEN;
    v->metadata = number_metadata(t, "halt_when_step_index", view->turn);
    return ALLM_OK;
}

static allm_status check_max_turns(void *state, const allm_loop_view *view,
                                   const allm_context *c, allm_verdict *v,
                                   void *ud)
{
    struct turns *t = ud;
    (void)state;
    (void)c;
    if (!turns_costs_turn(t, v) || view->turn + 1 < view->max_turns)
        return ALLM_OK;
    v->decision = ALLM_DECISION_HALT;
    v->reason = HALTED_MAX_TURNS;
    /* Pass 2 has a single turn. */
    v->metadata = number_metadata(t, "max_turns",
                                  t->pass == 2 ? 1 : view->max_turns);
    return ALLM_OK;
}

static const allm_policy halt_when = { .size = sizeof halt_when,
                                       .name = "halt_when",
                                       .after_turn = check_halt_when };
static const allm_policy max_turns = { .size = sizeof max_turns,
                                       .name = "max_turns",
                                       .after_turn = check_max_turns };

static const allm_policy *const first_policies[] = {
    &repeat_policy, &output_policy, NULL
};
static const allm_policy *const last_policies[] = { &halt_when, &max_turns,
                                                    NULL };

/* -------------------------------------------------------------- passes --- */

static bool allows_second_pass(const char *reason)
{
    return !strcmp(reason, HALTED_COMPLETED) ||
           !strcmp(reason, HALTED_MAX_TURNS) ||
           !strcmp(reason, HALTED_HALT_WHEN);
}

/* The provider's own options without those about tools, which a provider
 * rejects if a request has no tools.  NULL: out of memory. */
static const allm_json *options_without_tools(struct arena *a,
                                              const allm_json *options)
{
    static const char *const tools[] = { "tools", "tool_choice", "toolConfig",
                                         "parallel_tool_calls", "extra_body",
                                         NULL };
    const allm_json *extra = allm_json_get(options, "extra_body");
    struct build b = build_object_in(a);
    build_entries(&b, options, tools);
    if (allm_json_type_of(extra) == ALLM_JSON_OBJECT) {
        build_object_at(&b, "extra_body");
        build_entries(&b, extra, tools);
        build_end(&b);
    }
    return build_finish(&b);
}

/* Use the options of pass 2, and no tools; false: out of memory. */
static bool use_final_options(struct turns *t)
{
    const allm_json *options = options_without_tools(home_arena(t->setup.home),
                                                     t->setup.provider_options);
    if (!options)
        return false;
    t->setup.provider_options = options;
    t->pass = 2;
    t->pass_options = chat_of(t)->final_options;
    t->no_tools = true;
    return true;
}

/* Pass 1 has ended.  Returns true if pass 2 begins. */
static bool begin_second_pass(struct turns *t)
{
    struct chat *chat = chat_of(t);
    const struct options *o = &t->setup.options;
    const char *nudge = o->structured_finalize_nudge;
    if (t->pass != 1)
        return false;
    chat->pass_1_halted = t->verdict.decision == ALLM_DECISION_ERROR
                              ? HALTED_ERROR
                              : t->verdict.reason;
    if (t->verdict.error || !allows_second_pass(t->verdict.reason))
        return false;
    chat->pass_1_verdict = t->verdict;
    chat->pass_1_thread = allm_thread_copy(t->thread);
    chat->pass_1_newest = t->newest;
    chat->pass_1_step_count = t->step_count;
    if (!nudge)
        nudge = NUDGE;
    if (!chat->pass_1_thread || !use_final_options(t) ||
        (*nudge && !turns_append_user(t, nudge))) {
        turns_fail(t, status_nomem());
        return false;
    }
    t->turn++;
    t->max_turns = t->turn + 1;
    return true;
}

/* In pass 2: "pass_1": {"halted", "messages", "steps", "metadata"}. */
static void count_pass(const struct turns *t, struct build *b)
{
    const struct chat *chat = chat_of(t);
    if (t->pass != 2)
        return;
    build_object_at(b, "pass_1");
    build_text_at(b, "halted", slice_of(chat->pass_1_halted));
    build_uint_at(b, "messages", allm_thread_count(chat->pass_1_thread));
    build_uint_at(b, "steps", chat->pass_1_step_count);
    const allm_json *metadata = chat->pass_1_verdict.metadata;
    build_value_at(b, "metadata", metadata ? metadata : json_null());
    build_end(b);
}

static const allm_error *restore_pass_1(struct turns *t, const allm_json *pass)
{
    struct chat *chat = chat_of(t);
    int64_t messages = 0, steps = 0;
    const allm_json *metadata = allm_json_get(pass, "metadata");
    chat->pass_1_halted = allm_json_text(allm_json_get(pass, "halted"), NULL);
    allm_json_int64(allm_json_get(pass, "messages"), &messages);
    allm_json_int64(allm_json_get(pass, "steps"), &steps);
    if (!chat->pass_1_halted || steps < 1 || messages < 1)
        return turns_error(t, ALLM_ERR_MISUSE, "invalid_option",
                           "replay continues pass 2, but its counts do not "
                           "describe pass 1; pass the counts of the journal");
    chat->pass_1_verdict = (allm_verdict){
        .size = sizeof chat->pass_1_verdict,
        .decision = strcmp(chat->pass_1_halted, HALTED_COMPLETED)
                        ? ALLM_DECISION_HALT
                        : ALLM_DECISION_DONE,
        .reason = chat->pass_1_halted,
        .metadata = allm_json_type_of(metadata) == ALLM_JSON_OBJECT ? metadata
                                                                    : NULL,
    };
    for (struct turns_step *s = t->steps; s && steps; s = s->next, steps--) {
        chat->pass_1_newest = s;
        chat->pass_1_step_count++;
    }
    chat->pass_1_thread = thread_first(t->thread, (size_t)messages);
    return chat->pass_1_thread ? NULL : status_nomem();
}

/* Continue in pass 2, if the replay does. */
static const allm_error *restore_chat(struct turns *t, const allm_json *counts)
{
    if (t->setup.replay->pass != 2)
        return NULL;
    if (t->pass != 1 || !t->step_count)
        return turns_error(t, ALLM_ERR_MISUSE, "invalid_option",
                           "replay continues pass 2 of structured_finalize; "
                           "pass the options and the steps of that chat, too");
    const allm_error *error = restore_pass_1(t,
                                             allm_json_get(counts, "pass_1"));
    if (error)
        return error;
    t->max_turns = t->turn + 1;
    return use_final_options(t) ? NULL : status_nomem();
}

/* {"pass_1_halted": reason, "pass_2_error": ...} */
static const allm_json *finalize_metadata(struct turns *t, struct arena *a,
                                          const allm_error *failed)
{
    struct build b = build_object_in(a);
    build_text_at(&b, "pass_1_halted", slice_of(chat_of(t)->pass_1_halted));
    if (failed) {
        build_value_at(&b, "pass_2_error",
                       encode_to_json(a, &error_shape, failed, ALLM_FORM_TAGGED,
                                      NULL));
    }
    return build_finish(&b);
}

/* Did the model fail to answer?  An answer that a policy rejects is still an
 * answer. */
static bool answer_failed(const struct turns *t)
{
    return t->verdict.decision == ALLM_DECISION_ERROR &&
           (t->open_failed ||
            turns_last_step(t)->response->finish_reason == ALLM_FINISH_ERROR);
}

/* If pass 2 failed, restore the result of pass 1.  Returns the error of pass 2,
 * or NULL. */
static const allm_error *fall_back(struct turns *t)
{
    struct chat *chat = chat_of(t);
    if (t->pass != 2 || !answer_failed(t))
        return NULL;
    const allm_error *failed = t->verdict.error;
    t->verdict = chat->pass_1_verdict;
    t->newest = chat->pass_1_newest;
    t->newest->next = NULL;
    t->step_count = chat->pass_1_step_count;
    allm_thread_free(t->thread);
    t->thread = chat->pass_1_thread;
    chat->pass_1_thread = NULL;
    return failed;
}

/* ------------------------------------------------------------- results --- */

/* The metadata that belong to the reason. */
static const allm_json *reason_metadata(struct turns *t, struct arena *a)
{
    const char *reason = t->verdict.reason;
    const allm_step_result *step = turns_last_step(t);
    struct build b = build_object_in(a);
    if (step && turns_halt(t) && t->verdict.decision == ALLM_DECISION_HALT)
        build_entries(&b, step->metadata,
                      (const char *const[]){ "halted_reason", NULL });
    if (!strcmp(reason, HALTED_MANUAL)) {
        build_uint_at(&b, "manual_turn_index", t->turn);
        if (step && step->manual_tool_call_count) {
            build_value_at(&b, METADATA_MANUAL,
                           metadata_calls_json(a, step->manual_tool_call_count,
                                               step->manual_tool_calls));
        }
        const allm_json *approvals =
            step ? allm_json_get(step->metadata, METADATA_APPROVALS) : NULL;
        build_value_if(&b, METADATA_APPROVALS, approvals);
    }
    if (chat_of(t)->unknown_calls)
        build_value_at(&b, METADATA_UNKNOWN, chat_of(t)->unknown_calls);
    return build_finish(&b);
}

static const allm_json *result_metadata(struct turns *t, struct arena *a,
                                        const allm_error *pass_2)
{
    const allm_json *m = reason_metadata(t, a);
    if (m && t->verdict.metadata)
        m = json_merge(a, m, t->verdict.metadata);
    if (m && chat_of(t)->pass_1_halted)
        m = json_set(a, m, SLICE("structured_finalize"),
                     finalize_metadata(t, a, pass_2));
    return m;
}

/* Append the tool's question as a message of the assistant. */
static bool append_question(struct turns *t, struct arena *a)
{
    const struct tool_result *halt = turns_halt(t);
    bool has_question = halt && halt->outcome.kind == OUTCOME_QUESTION;
    struct build b = build_object_in(a);
    build_bool_at(&b, "ask_user", true);
    build_text_or_null_at(&b, "tool_call_id",
                          has_question ? halt->view.call->id : NULL);
    allm_message *m = allm_message_new(
        ALLM(message, .role = ALLM_ROLE_ASSISTANT,
             .text = has_question ? halt->outcome.question : "",
             .metadata = build_finish(&b)));
    bool ok = m && !allm_message_error(m) &&
              allm_thread_append(t->thread, m) == ALLM_OK;
    allm_message_free(m);
    return ok;
}

/* The error of a chat that ends with tool_error is the step's. */
static void use_step_error(struct turns *t)
{
    const allm_step_result *step = turns_last_step(t);
    if (!t->verdict.error && step && step->error &&
        !strcmp(t->verdict.reason, HALTED_TOOL_ERROR))
        t->verdict.error = step->error;
}

static bool finish_chat(struct turns *t)
{
    struct arena a = arena_in(t->mem);
    const allm_error *pass_2 = fall_back(t);
    if (t->verdict.decision == ALLM_DECISION_ERROR)
        t->verdict.reason = HALTED_ERROR;
    use_step_error(t);
    bool asks = turns_last_step(t) &&
                !strcmp(t->verdict.reason, HALTED_ASK_USER);
    bool ok = !asks || append_question(t, &a);
    if (ok)
        t->chat = turns_chat_result(t, t->verdict.reason,
                                    result_metadata(t, &a, pass_2));
    arena_release(&a);
    return t->chat != NULL;
}

static void release_chat(struct turns *t)
{
    allm_thread_free(chat_of(t)->pass_1_thread);
}

/* Store the calls of a replayed turn that may have happened, for the result. */
static void keep_unknown_calls(struct turns *t, const allm_context *c)
{
    size_t n = 0;
    const allm_tool_call *const *calls = step_unknown_calls(t->step, &n);
    (void)c;
    if (n)
        chat_of(t)->unknown_calls =
            metadata_calls_json(home_arena(t->setup.home), n, calls);
}

static const struct turns_front chat_front = {
    .first = first_policies,
    .last = last_policies,
    .observe = keep_unknown_calls,
    .extend = begin_second_pass,
    .count = count_pass,
    .restore = restore_chat,
    .finish = finish_chat,
    .release = release_chat,
    .keeps_failed_turn = true,
};

/* ------------------------------------------------------------- options --- */

/* Does the adapter need two passes for this request? */
static bool adapter_wants_two(const struct turns *t)
{
    const struct setup *u = &t->setup;
    const struct registry_row *row = engine_row_for(u->engine, u->model, NULL);
    const allm_request probe = { .size = sizeof probe,
                                 .tool_count = u->wire_count,
                                 .tools = u->wire,
                                 .response_format =
                                     u->options.response_format };
    return row && row->adapter->needs_finalize &&
           row->adapter->needs_finalize(&probe);
}

static const allm_error *begin_chat(struct turns *t, const void *front_opts)
{
    struct chat *chat = chat_of(t);
    struct setup *u = &t->setup;
    (void)front_opts;
    u->append_answer = true;
    chat->final_options = u->options;
    chat->final_options.tool_choice = NULL; /* no tools to choose from */
    chat->final_options.tool_choice_map = NULL;
    if (!u->options.response_format) {
        u->finalize = u->options.structured_finalize;
        return NULL;       /* Validating the request reports what is missing. */
    }
    if (!u->options.structured_finalize && !adapter_wants_two(t))
        return NULL;
    t->pass = 1;
    t->pass_options.response_format = NULL;
    return NULL;
}

allm_stream *allm_chat(const allm_engine *e, const allm_thread *thread,
                       const allm_call_opts *opts)
{
    return turns_stream(e, thread, opts, &chat_front, sizeof(struct chat),
                        begin_chat, NULL);
}
