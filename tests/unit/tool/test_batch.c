/* test_batch.c - the calls of one turn as a machine */
#include "tool/batch.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/tools.h"

#include <stdio.h>
#include <stdlib.h>

#define RAISED \
    "{\"kind\":\"tool\",\"reason\":\"handler_raised\",\"message\":" \
    "\"tool error (it): handler_raised: boom\",\"tool_name\":\"it\"," \
    "\"tool_call_id\":\"c0\",\"cause\":\"boom\",\"metadata\":{}}"

/* ------------------------------------------------------------- outcomes --- */

static void every_outcome_has_its_three_events(void)
{
    const struct {
        const char *why, *script, *told;
    } rows[] = {
        { "a text stands as it is", "text:hi",
          "+c0 c0={\"ok\":\"hi\"} c0>hi ok" },
        { "an empty text, too", "text:", "+c0 c0={\"ok\":\"\"} c0> ok" },
        { "a value is JSON", "ok:{'a':1}",
          "+c0 c0={\"ok\":{\"a\":1}} c0>{\"a\":1} ok" },
        { "null is a value", "ok:null", "+c0 c0={\"ok\":null} c0>null ok" },
        { "arguments reach the function", "echo",
          "+c0 c0={\"ok\":{\"a\":1}} c0>{\"a\":1} ok" },
        { "a failure of the tool", "fail:bad_arg",
          "+c0 c0={\"error\":\"bad_arg\"} c0>{\"error\":\"bad_arg\"} ok" },
        { "a broken function", "raise:boom",
          "+c0 c0={\"error\":" RAISED "} c0>{\"error\":\"tool error (it): "
          "handler_raised: boom\"} ok" },
        { "a question", "ask:which city?",
          "+c0 c0={\"ask_user\":\"which city?\",\"opts\":{}} "
          "c0?which city?{} ok" },
        { "a question with options", "ask2:which?",
          "+c0 c0={\"ask_user\":\"which?\",\"opts\":"
          "{\"choices\":[\"A\",\"B\"]}} "
          "c0?which?{\"choices\":[\"A\",\"B\"]} ok" },
        { "a halt", "halt:plan_submitted:{'status':'ok'}",
          "+c0 c0={\"halt\":[\"plan_submitted\",{\"status\":\"ok\"}]} "
          "c0!plan_submitted/{\"status\":\"ok\"}/{\"status\":\"ok\"} ok" },
        { "the first of two answers counts", "twice",
          "+c0 c0={\"ok\":\"first\"} c0>first ok" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TEXT(tools_once(rows[i].script, ALLM_TOOL_POLICY_CONTINUE),
                   rows[i].told);
    }
}

/* What went wrong, by the policy that stops the chat. */
static void failures_halt_if_requested(void)
{
    CHECK_TEXT(tools_once("fail:bad_arg", ALLM_TOOL_POLICY_HALT),
               "+c0 c0={\"error\":\"bad_arg\"} "
               "c0!tool_error/\"bad_arg\"/{\"error\":\"bad_arg\"} ok");
    CHECK_TEXT(tools_once("raise:boom", ALLM_TOOL_POLICY_HALT),
               "+c0 c0={\"error\":" RAISED "} c0!tool_error/" RAISED
               "/{\"error\":\"tool error (it): handler_raised: boom\"} ok");
    CHECK_TEXT(tools_once("text:fine", ALLM_TOOL_POLICY_HALT),
               "+c0 c0={\"ok\":\"fine\"} c0>fine ok");
}

/* Run one call; the result is borrowed from the bench. */
static const struct tool_result *play_one(struct tools_bench *t,
                                          const char *script)
{
    tools_add(t, "it", script);
    tools_call(t, "it", "{}");
    tools_play(t);
    return tools_at(t, 0);
}

static void failures_are_errors_of_kind_tool(void)
{
    const struct {
        const char *script, *reason, *words;
    } rows[] = {
        { "fail:no such city", "handler_failed", "no such city" },
        { "raise:boom", "handler_raised", "boom" },
        { "none", "invalid_return", "without an answer" },
        { "bad", "encoding_failed", "JSON" },
        { "halt:done:bad", "encoding_failed", "JSON" },
        { "halt::1", "invalid_return", "reason" },
        { "later:40000:text:late", "timeout", "30000 ms" },
        { NULL, "not_found", "no function" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        check_row(rows[i].reason);
        const struct tool_result *r = play_one(&t, rows[i].script);
        CHECK(r && r->view.is_error && r->error && !r->halts);
        if (r && r->error) {
            CHECK_ERROR(r->error, ALLM_ERR_TOOL, rows[i].reason, rows[i].words);
            CHECK_TEXT(r->error->tool_name, "it");
            CHECK_TEXT(r->error->tool_call_id, "c0");
            CHECK(strstr(r->message->text, "{\"error\":\"") != NULL);
        }
        tools_release(&t);
    }
}

static void reserved_halts_are_refused(void)
{
    static const char *const words[] = {
        "ask_user",   "max_turns",         "halt_when",
        "tool_error", "cancelled",         "completed",
        "error",      "manual_tool_calls", "budget",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char script[64];
        struct tools_bench t;
        tools_init(&t);
        snprintf(script, sizeof script, "halt:%s:1", words[i]);
        const struct tool_result *r = play_one(&t, script);
        check_row(words[i]);
        CHECK(r && !r->halts);
        if (r) {
            CHECK_ERROR(r->error, ALLM_ERR_TOOL, "invalid_return", "reserved");
            CHECK_TEXT(allm_json_text(allm_json_get(GET(r->error, metadata),
                                                    "reserved_halt_atom"),
                                      NULL),
                       words[i]);
            CHECK(strstr(r->message->text, words[i]) != NULL);
        }
        tools_release(&t);
    }
}

static void halts_tell_the_chat_why(void)
{
    const struct {
        const char *script;
        allm_tool_policy policy;
        const char *results;
    } rows[] = {
        { "halt:plan_submitted:{'status':'ok'}", ALLM_TOOL_POLICY_CONTINUE,
          "c0={\"status\":\"ok\"} {\"halted_reason\":\"plan_submitted\","
          "\"halt_tool_call_id\":\"c0\",\"halt_result\":{\"status\":\"ok\"}}" },
        { "ask:which city?", ALLM_TOOL_POLICY_CONTINUE,
          "c0=<awaiting user response> {\"halted_reason\":\"ask_user\","
          "\"pending_tool_call_id\":\"c0\","
          "\"pending_question\":\"which city?\",\"ask_user_opts\":{}}" },
        { "fail:bad_arg", ALLM_TOOL_POLICY_HALT,
          "c0={\"error\":\"bad_arg\"} {\"halted_reason\":\"tool_error\","
          "\"halt_tool_call_id\":\"c0\"}" },
        { "fail:bad_arg", ALLM_TOOL_POLICY_CONTINUE,
          "c0={\"error\":\"bad_arg\"}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        t.opts.policy = rows[i].policy;
        check_row(rows[i].script);
        play_one(&t, rows[i].script);
        CHECK_TEXT(tools_results(&t), rows[i].results);
        tools_release(&t);
    }
}

/* ------------------------------------------------------------ the world --- */

static void functions_see_where_they_run(void)
{
    struct tools_bench t;
    tools_init(&t);
    allm_json *context = noun_json("{'user_id':42}");
    t.env.context = context;
    t.env.request_id = "req-7";
    tools_add(&t, "sees", "see");
    tools_add(&t, "reads", "context");
    tools_call(&t, "sees", "{}");
    tools_call(&t, "reads", "{}");
    tools_start(&t);
    allm_json_free(context);    /* it was copied */
    tools_play(&t);
    CHECK_TEXT(tools_results(&t), "c0=- req-7 c0 c1={\"user_id\":42}");
    tools_release(&t);
}

static void without_a_context_it_is_empty(void)
{
    CHECK_TEXT(tools_once("context", ALLM_TOOL_POLICY_CONTINUE),
               "+c0 c0={\"ok\":{}} c0>{} ok");
}

/* ----------------------------------------------------------- many calls --- */

static void nothing_to_do_is_done(void)
{
    struct tools_bench t;
    tools_init(&t);
    CHECK_TEXT(tools_play(&t), "ok");
    CHECK_TEXT(tools_results(&t), "");
    tools_release(&t);
}

static void an_unknown_name_runs_nothing(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add(&t, "known", "twice");
    tools_call(&t, "known", "{}");
    tools_call(&t, "unknown", "{}");
    tools_start(&t);
    CHECK_ERROR(batch_error(t.batch), ALLM_ERR_ENGINE, "unknown_tool",
                "unknown");
    CHECK_TEXT(tools_play(&t), "error:unknown_tool ok");
    CHECK_TEXT(tools_results(&t), "");
    if (t.batch && check_whole())
        CHECK_VALUE(batch_error(t.batch)->metadata, "{'tool_name':'unknown'}");
    tools_release(&t);
}

/* Started together; events as they end; results in the order of calls. */
static void completion_decides_the_order_of_events(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add(&t, "f", "later:20:halt:done:1");
    tools_add(&t, "e", "later:10:text:quick");
    tools_call(&t, "f", "{}");
    tools_call(&t, "e", "{}");
    CHECK_TEXT(tools_play(&t), "+c1 c1={\"ok\":\"quick\"} c1>quick "
                               "+c0 c0={\"halt\":[\"done\",1]} c0!done/1/1 ok");
    CHECK_TEXT(tools_results(&t),
               "c0=1 c1=quick {\"halted_reason\":\"done\","
               "\"halt_tool_call_id\":\"c0\",\"halt_result\":1}");
    CHECK_INT(t.clock.now_ns, 20000000);
    tools_release(&t);
}

static void the_first_call_wins_among_halts(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add(&t, "a", "later:20:halt:a:1");
    tools_add(&t, "b", "ask:b?");
    tools_call(&t, "a", "{}");
    tools_call(&t, "b", "{}");
    tools_play(&t);
    CHECK_TEXT(tools_results(&t),
               "c0=1 c1=<awaiting user response> {\"halted_reason\":\"a\","
               "\"halt_tool_call_id\":\"c0\",\"halt_result\":1}");
    tools_release(&t);
}

static void live_events_tell_the_start(void)
{
    struct tools_bench t;
    tools_init(&t);
    t.opts.live_events = true;
    tools_add(&t, "slow", "later:20:text:s");
    tools_add(&t, "quick", "text:q");
    tools_call(&t, "slow", "{}");
    tools_call(&t, "quick", "{}");
    CHECK_TEXT(tools_play(&t), "+c0 +c1 c1={\"ok\":\"q\"} c1>q "
                               "c0={\"ok\":\"s\"} c0>s ok");
    tools_release(&t);
}

/* A completion that frees a slot is emitted before the start that uses it. */
static void live_starts_wait_for_the_end_that_made_room(void)
{
    static const struct {
        const char *does;
        uint32_t limit;
        const char *told;
    } rows[] = {
        { "text:x", 1,
          "+c0 c0={\"ok\":\"x\"} c0>x +c1 c1={\"ok\":\"x\"} c1>x "
          "+c2 c2={\"ok\":\"x\"} c2>x ok" },
        { "later:5:text:x", 1,
          "+c0 c0={\"ok\":\"x\"} c0>x +c1 c1={\"ok\":\"x\"} c1>x "
          "+c2 c2={\"ok\":\"x\"} c2>x ok" },
        { "later:5:text:x", 2,
          "+c0 +c1 c0={\"ok\":\"x\"} c0>x +c2 c1={\"ok\":\"x\"} c1>x "
          "c2={\"ok\":\"x\"} c2>x ok" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        check_row(rows[i].does);
        t.opts.live_events = true;
        t.opts.max_concurrency = rows[i].limit;
        tools_add(&t, "it", rows[i].does);
        for (int call = 0; call < 3; call++)
            tools_call(&t, "it", "{}");
        CHECK_TEXT(tools_play(&t), rows[i].told);
        tools_release(&t);
    }
}

static int now_running, peak;

static void leave(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    now_running--;
    allm_tool_text(run, "x", 1);
}

static void enter(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    if (++now_running > peak)
        peak = now_running;
    allm_tool_later(run, 5, leave, NULL);
}

static void no_more_run_at_once_than_the_limit_allows(void)
{
    const struct {
        uint32_t limit;
        int peak;
        int64_t ms;
    } rows[] = { { 2, 2, 50 }, { 1, 1, 100 }, { 20, 20, 5 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        now_running = peak = 0;
        t.opts.max_concurrency = rows[i].limit;
        tools_add_fields(&t, ALLM(tool, .name = "it", .description = "",
                                  .schema_text = "{}", .call = enter,
                                  .flags = ALLM_TOOL_INLINE));
        for (int k = 0; k < 20; k++)
            tools_call(&t, "it", "{}");
        tools_play(&t);
        CHECK_INT(batch_count(t.batch), 20);
        CHECK(tools_at(&t, 19) != NULL);
        CHECK_INT(peak, rows[i].peak);
        CHECK_INT(t.clock.now_ns, rows[i].ms * 1000000);
        tools_release(&t);
    }
}

static void siblings_of_a_failure_run_to_their_end(void)
{
    struct tools_bench t;
    tools_init(&t);
    t.opts.policy = ALLM_TOOL_POLICY_HALT;
    t.opts.max_concurrency = 1;
    tools_add(&t, "fails", "fail:no");
    tools_add(&t, "works", "later:10:text:yes");
    tools_call(&t, "fails", "{}");
    tools_call(&t, "works", "{}");
    tools_play(&t);
    CHECK_TEXT(tools_results(&t),
               "c0={\"error\":\"no\"} c1=yes {\"halted_reason\":\"tool_error\","
               "\"halt_tool_call_id\":\"c0\"}");
    tools_release(&t);
}

/* ----------------------------------------------------------------- time --- */

static void a_call_has_its_own_time(void)
{
    struct tools_bench t;
    tools_init(&t);
    t.opts.timeout_ms = 50;
    t.opts.max_concurrency = 1;
    tools_add(&t, "late", "later:200:text:late");
    tools_add(&t, "good", "later:40:text:good");
    tools_call(&t, "late", "{}");
    tools_call(&t, "good", "{}");       /* begins when the first is over */
    tools_play(&t);
    const struct tool_result *r = tools_at(&t, 0);
    if (r)
        CHECK_ERROR(r->error, ALLM_ERR_TOOL, "timeout", "50 ms");
    r = tools_at(&t, 1);
    CHECK(r && !r->view.is_error);
    CHECK_INT(t.clock.now_ns, 90000000);
    tools_release(&t);
}

static void without_a_limit_time_does_not_count(void)
{
    struct tools_bench t;
    tools_init(&t);
    t.opts.timeout_ms = UINT32_MAX;
    tools_add(&t, "it", "later:86400000:text:next day");
    tools_call(&t, "it", "{}");
    CHECK_TEXT(tools_play(&t), "+c0 c0={\"ok\":\"next day\"} c0>next day ok");
    tools_release(&t);
}

/* ------------------------------------------------------------ callbacks --- */

static int asked;
static char asked_about[128];

/* Answers as the script in `ud` says. */
static void on_error(allm_tool_run *run, const allm_error *error, void *ud)
{
    asked++;
    snprintf(asked_about, sizeof asked_about, "%s %s", error->reason,
             allm_tool_run_call(run)->id);
    CHECK(!allm_tool_defer(run));
    CHECK_INT(allm_tool_later(run, 1, tools_do, NULL), ALLM_ERR_MISUSE);
    tools_do(run, NULL, ud);
}

static const struct tool_result *play_callback(struct tools_bench *t,
                                               const char *script,
                                               const char *answer)
{
    tools_init(t);
    asked = 0;
    t->opts.policy = ALLM_TOOL_POLICY_CALLBACK;
    t->opts.on_error = on_error;
    t->opts.on_error_ud = TOOLS_SCRIPT(answer);
    return play_one(t, script);
}

static void a_callback_decides_once(void)
{
    const struct {
        const char *why, *answer, *results, *reason;
    } rows[] = {
        { "a replacement", "ok:{'fallback':'ok'}", "c0={\"fallback\":\"ok\"}",
          NULL },
        { "halt keeps the error", "halt:whatever:1",
          "c0={\"error\":\"no\"} {\"halted_reason\":\"tool_error\","
          "\"halt_tool_call_id\":\"c0\"}",
          "handler_failed" },
        { "a reserved word is fine here", "halt:tool_error:1",
          "c0={\"error\":\"no\"} {\"halted_reason\":\"tool_error\","
          "\"halt_tool_call_id\":\"c0\"}",
          "handler_failed" },
        { "it fails itself", "raise:oops",
          "c0={\"error\":\"tool error (it): invalid_return: the on_tool_error "
          "callback failed: oops\"} {\"halted_reason\":\"tool_error\","
          "\"halt_tool_call_id\":\"c0\"}",
          "invalid_return" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        check_row(rows[i].why);
        const struct tool_result *r = play_callback(&t, "fail:no",
                                                    rows[i].answer);
        CHECK_TEXT(tools_results(&t), rows[i].results);
        CHECK_INT(asked, 1);
        CHECK_TEXT(asked_about, "handler_failed c0");
        if (r)
            CHECK_TEXT(r->error ? r->error->reason : NULL, rows[i].reason);
        CHECK(r && r->view.is_error == (rows[i].reason != NULL));
        tools_release(&t);
    }
}

static void senseless_callbacks_halt(void)
{
    static const char *const answers[] = { "none", "ask:why?", "fail:so",
                                           "bad" };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct tools_bench t;
        check_row(answers[i]);
        const struct tool_result *r = play_callback(&t, "fail:no", answers[i]);
        CHECK(r && r->halts && r->error);
        if (r && r->error) {
            CHECK_TEXT(r->error->reason, "invalid_return");
            CHECK_VALUE(r->error->metadata, "{'on_tool_error_invalid':true}");
        }
        CHECK_INT(asked, 1);
        tools_release(&t);
    }
}

static void a_callback_sees_every_kind_of_failure(void)
{
    const struct {
        const char *script, *about;
    } rows[] = {
        { "raise:x", "handler_raised c0" },
        { "none", "invalid_return c0" },
        { "bad", "encoding_failed c0" },
        { "halt:completed:1", "invalid_return c0" },
        { "later:40000:text:x", "timeout c0" },
        { NULL, "not_found c0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        play_callback(&t, rows[i].script, "text:instead");
        CHECK_TEXT(tools_results(&t), "c0=instead");
        CHECK_TEXT(asked_about, rows[i].about);
        CHECK_INT(asked, 1);
        tools_release(&t);
    }
}

/* --------------------------------------------------------------- misuse --- */

static void options_are_checked_first(void)
{
    allm_encoder no_encoder = { .size = sizeof no_encoder };
    allm_executor no_executor = { .size = sizeof no_executor };
    const struct batch_opts rows[] = {
        { .policy = (allm_tool_policy)7 },
        { .policy = ALLM_TOOL_POLICY_CALLBACK },
        { .encoder = &no_encoder },
        { .executor = &no_executor },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        t.opts = rows[i];
        tools_start(&t);
        CHECK(t.batch && batch_error(t.batch)->kind == ALLM_ERR_MISUSE);
        CHECK_TEXT(tools_play(&t), "invalid_option");
        tools_release(&t);
    }
}

/* ------------------------------------------------------------ arguments --- */

static void malformed_arguments_never_run(void)
{
    const struct {
        const char *raw, *words;
    } rows[] = {
        { "{\"x", "not JSON" },
        { "[1]", "an array" },
        { "\"x\"", "a string" },
        { "nonsense", "not JSON" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        tools_add_fields(&t, ALLM(tool, .name = "it", .description = "",
                                  .schema_text = "{\"type\":\"object\"}",
                                  .call = tools_do, .ud = TOOLS_SCRIPT("twice"),
                                  .flags = ALLM_TOOL_INLINE));
        tools_call_raw(&t, "it", rows[i].raw);
        tools_play(&t);
        const struct tool_result *r = tools_at(&t, 0);
        check_row(rows[i].raw);
        CHECK(r && r->error);
        if (r && r->error) {
            CHECK_ERROR(r->error, ALLM_ERR_TOOL, "invalid_arguments",
                        rows[i].words);
            CHECK(strstr(r->error->message, "{\"type\":\"object\"}") != NULL);
        }
        tools_release(&t);
    }
}

static void blank_arguments_are_empty(void)
{
    static const char *const raws[] = { "", "  ", "null", "{}" };
    for (size_t i = 0; i < sizeof raws / sizeof *raws; i++) {
        struct tools_bench t;
        tools_init(&t);
        tools_add(&t, "it", "echo");
        tools_call_raw(&t, "it", raws[i]);
        tools_play(&t);
        CHECK_TEXT(tools_results(&t), "c0={}");
        tools_release(&t);
    }
}

static void arguments_are_checked_by_schema_if_requested(void)
{
    for (int on = 0; on < 2; on++) {
        struct tools_bench t;
        tools_init(&t);
        t.opts.by_schema = on;
        tools_add_fields(&t, ALLM(tool, .name = "it", .description = "",
                                  .schema_text =
                                      "{\"properties\":{\"n\":{\"type\":"
                                      "\"integer\"}},\"required\":[\"m\"]}",
                                  .call = tools_do, .ud = TOOLS_SCRIPT("echo"),
                                  .flags = ALLM_TOOL_INLINE));
        tools_call(&t, "it", "{'n':'one'}");
        tools_play(&t);
        const struct tool_result *r = tools_at(&t, 0);
        CHECK(r && r->view.is_error == (on == 1));
        if (r && on) {
            CHECK_ERROR(r->error, ALLM_ERR_TOOL, "invalid_arguments", "/n");
            CHECK(strstr(r->error->message, "\"m\"") != NULL);
        }
        tools_release(&t);
    }
}

/* ---------------------------------------------------- encoder, executor --- */

static void shout(void *self, const allm_json *value, bool is_error,
                  allm_encoding *out)
{
    (void)self;
    const char *text = allm_json_text(value, NULL);
    if (is_error || !text)
        allm_encoding_fail(out, "oh no");
    else
        allm_encoding_text(out, "LOUD", ALLM_NUL_ENDED);
}

static void encoders_may_fail(void)
{
    const allm_encoder encoder = { .size = sizeof encoder, .encode = shout };
    const struct {
        const char *script, *results;
    } rows[] = {
        { "text:hi", "c0=LOUD" },
        { "ok:1", "c0={\"error\":\"oh no\"}" },
        { "fail:why", "c0={\"error\":\"why\"}" },
        { "halt:done:1", "c0={\"error\":\"oh no\"}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        t.opts.encoder = &encoder;
        play_one(&t, rows[i].script);
        check_row(rows[i].script);
        CHECK_TEXT(tools_results(&t), rows[i].results);
        tools_release(&t);
    }
}

static void a_replacement_that_cannot_be_read_halts(void)
{
    const allm_encoder encoder = { .size = sizeof encoder, .encode = shout };
    struct tools_bench t;
    tools_init(&t);
    asked = 0;
    t.opts.encoder = &encoder;
    t.opts.policy = ALLM_TOOL_POLICY_CALLBACK;
    t.opts.on_error = on_error;
    t.opts.on_error_ud = TOOLS_SCRIPT("ok:1");
    const struct tool_result *r = play_one(&t, "fail:no");
    CHECK(r && r->halts && r->error);
    if (r && r->error)
        CHECK_TEXT(r->error->reason, "encoding_failed");
    CHECK_INT(asked, 1);
    tools_release(&t);
}

static void agents_read_plain_sentences(void)
{
    const struct {
        const char *script, *results;
    } rows[] = {
        { "text:hi", "c0=hi" },
        { "ok:[1]", "c0=[1]" },
        { "fail:no city", "c0=Error: no city" },
        { "raise:boom", "c0=Tool execution error: boom" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        tools_init(&t);
        t.opts.style = ENCODER_AGENT;
        play_one(&t, rows[i].script);
        CHECK_TEXT(tools_results(&t), rows[i].results);
        tools_release(&t);
    }
}

static void custom(void *self, const allm_tool *tool, allm_tool_run *run,
                   const allm_json *args)
{
    (void)tool;
    tools_do(run, args, self);
}

static void executors_take_the_place_of_functions(void)
{
    allm_executor e = { .size = sizeof e, .execute = custom,
                        .self = TOOLS_SCRIPT("text:custom_path"),
                        .flags = ALLM_EXECUTOR_INLINE };
    struct tools_bench t;
    tools_init(&t);
    t.opts.executor = &e;
    play_one(&t, "text:own");
    CHECK_TEXT(tools_results(&t), "c0=custom_path");
    tools_release(&t);
    tools_init(&t);
    e.self = TOOLS_SCRIPT("none");
    t.opts.executor = &e;
    const struct tool_result *r = play_one(&t, "text:own");
    CHECK(r && strstr(r->message->text, "invalid_return"));
    tools_release(&t);
}

/* ---------------------------------------------------------------- trace --- */

static char spans[512];

static void note(const char *what, size_t index, const char *more)
{
    size_t at = strlen(spans);
    snprintf(spans + at, sizeof spans - at, "%s%s:%zu%s", at ? " " : "", what,
             index, more);
}

static void on_start(void *ud, size_t index, const allm_tool_call *call,
                     const allm_tool *tool)
{
    (void)ud;
    CHECK_TEXT(call->name, tool->name);
    note("start", index, "");
}

static void on_stop(void *ud, size_t index, const struct outcome *outcome,
                    const allm_error *error)
{
    (void)ud;
    CHECK(!error == (outcome->kind == OUTCOME_RESULT));
    char how[64];
    snprintf(how, sizeof how, "/%s", error ? error->reason : "ok");
    note("stop", index, how);
}

static void spans_are_reported(void)
{
    struct tools_bench t;
    tools_init(&t);
    spans[0] = '\0';
    t.opts.trace.start = on_start;
    t.opts.trace.stop = on_stop;
    tools_add(&t, "good", "text:x");
    tools_add(&t, "raises", "raise:x");
    tools_add(&t, "late", "later:31000:text:x");
    tools_call(&t, "good", "{}");
    tools_call(&t, "raises", "{}");
    tools_call(&t, "late", "{}");
    tools_play(&t);
    CHECK_TEXT(spans, "start:0 start:1 start:2 stop:0/ok "
                      "stop:1/handler_raised stop:2/timeout");
    tools_release(&t);
}

/* ------------------------------------------------------------- property --- */

/* Each call has three events in the right order, and one message. */
static void check_reported(struct tools_bench *t)
{
    int told[TOOLS_MOST] = { 0 };
    uint32_t open = 0, most = t->opts.max_concurrency;
    allm_event *event;
    int64_t again;
    allm_status status;
    tools_start(t);
    while ((status = batch_next(t->batch, &event, &again)) > ALLM_OK) {
        if (status == ALLM_AGAIN) {
            CHECK(again > t->clock.now_ns);
            t->clock.now_ns = again;
            continue;
        }
        int *n = &told[atoi(event->id + 1)];
        ++*n;
        CHECK((event->type == ALLM_EV_TOOL_EXECUTION_STARTED) == (*n == 1));
        CHECK((event->type == ALLM_EV_TOOL_EXECUTION_COMPLETED) == (*n == 2));
        open += *n == 1;
        CHECK(!most || open <= most);
        open -= *n == 3;
    }
    CHECK_INT(status, ALLM_OK);
    for (size_t i = 0; i < t->call_count; i++) {
        const struct tool_result *r = tools_at(t, i);
        CHECK_INT(told[i], 3);
        CHECK(r && r->message && r->view.call &&
              !strcmp(r->view.call->id, r->message->tool_call_id));
        CHECK(r && r->view.is_error == (r->error != NULL));
    }
}

static void any_mix_of_calls_is_reported_and_answered(void)
{
    static const char *const scripts[] = {
        "text:x",          "ok:{'a':1}",           "fail:no",
        "raise:boom",      "none",                 "ask:q",
        "halt:done:1",     "halt:completed:1",     "bad",
        "later:5:text:y",  "later:9:fail:late no", "later:31000:text:z",
        "later:3:ask:q",   "later:0:none",         NULL,
    };
    static const char *const answers[] = { "text:r", "halt:x:1", "raise:x",
                                           "none" };
    enum { SCRIPTS = sizeof scripts / sizeof *scripts };
    struct random random = check_random();
    for (int round = 0; round < 300; round++) {
        struct tools_bench t;
        tools_init(&t);
        t.opts.policy = (allm_tool_policy)random_below(random, 3);
        t.opts.on_error = on_error;
        t.opts.on_error_ud = TOOLS_SCRIPT(answers[random_below(random, 4)]);
        t.opts.max_concurrency = (uint32_t)random_below(random, 4);
        t.opts.live_events = random_below(random, 2);
        t.opts.style = (enum encoder_style)random_below(random, 2);
        for (int i = 0; i < SCRIPTS; i++) {
            char name[16];
            snprintf(name, sizeof name, "t%d", i);
            tools_add(&t, name, scripts[i]);
        }
        size_t calls = (size_t)random_below(random, TOOLS_MOST);
        for (size_t i = 0; i < calls; i++) {
            char name[16];
            snprintf(name, sizeof name, "t%d",
                     (int)random_below(random, SCRIPTS));
            tools_call(&t, name, "{}");
        }
        check_reported(&t);
        tools_release(&t);
    }
}

/* -------------------------------------------------------------- the end --- */

static void a_batch_may_be_freed_at_any_moment(void)
{
    for (int pulls = 0; pulls < 8; pulls++) {
        struct tools_bench t;
        allm_event *event;
        int64_t again;
        tools_init(&t);
        tools_add(&t, "quick", "text:q");
        tools_add(&t, "slow", "later:10:text:s");
        tools_call(&t, "quick", "{}");
        tools_call(&t, "slow", "{}");
        tools_start(&t);
        for (int i = 0; t.batch && i < pulls; i++)
            batch_next(t.batch, &event, &again);
        tools_release(&t);
    }
}

static void nothing_happens_after_a_stop(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add(&t, "quick", "text:q");
    tools_call(&t, "quick", "{}");
    tools_start(&t);
    if (t.batch) {
        batch_stop(t.batch);
        CHECK_TEXT(tools_play(&t), "ok");
        CHECK(!tools_at(&t, 0));
    }
    tools_release(&t);
}

TESTS = {
    TEST(every_outcome_has_its_three_events),
    TEST(failures_halt_if_requested),
    TEST(failures_are_errors_of_kind_tool),
    TEST(reserved_halts_are_refused),
    TEST(halts_tell_the_chat_why),
    TEST(functions_see_where_they_run),
    TEST(without_a_context_it_is_empty),
    TEST(nothing_to_do_is_done),
    TEST(an_unknown_name_runs_nothing),
    TEST(completion_decides_the_order_of_events),
    TEST(the_first_call_wins_among_halts),
    TEST(live_events_tell_the_start),
    TEST(live_starts_wait_for_the_end_that_made_room),
    TEST(no_more_run_at_once_than_the_limit_allows),
    TEST(siblings_of_a_failure_run_to_their_end),
    TEST(a_call_has_its_own_time),
    TEST(without_a_limit_time_does_not_count),
    TEST(a_callback_decides_once),
    TEST(senseless_callbacks_halt),
    TEST(a_callback_sees_every_kind_of_failure),
    TEST(options_are_checked_first),
    TEST(malformed_arguments_never_run),
    TEST(blank_arguments_are_empty),
    TEST(arguments_are_checked_by_schema_if_requested),
    TEST(encoders_may_fail),
    TEST(a_replacement_that_cannot_be_read_halts),
    TEST(agents_read_plain_sentences),
    TEST(executors_take_the_place_of_functions),
    TEST(spans_are_reported),
    TEST_ONCE(any_mix_of_calls_is_reported_and_answered),
    TEST(a_batch_may_be_freed_at_any_moment),
    TEST(nothing_happens_after_a_stop),
    TESTS_END,
};
