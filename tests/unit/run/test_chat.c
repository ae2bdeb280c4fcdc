/*
 * test_chat.c - steps until the model is done, or something stops it
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdio.h>

#define CALL(id, name, args) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': " args "}]"
#define TURN(id, name) \
    "[" CALL(id, name, "{'x': 1}") ", ['finish', 'tool_calls']]"
#define SAY(text) "[['text', '" text "'], ['finish', 'stop']]"
#define TWO "[" TURN("c0", "echo") ", " SAY("done") "]"
#define THREE "[" TURN("c0", "echo") ", " TURN("c1", "echo") ", " \
              TURN("c2", "echo") ", " SAY("late") "]"

struct bench {
    struct clock_manual clock;
    allm_engine *engine;
    allm_thread *thread;
    allm_stream *stream;
    allm_json *json;
};

static void begin(struct bench *b, const char *scripts, const char *tools,
                  const char *json, const allm_call_opts *more)
{
    allm_call_opts opts = { .size = sizeof opts };
    if (more)
        opts = *more;
    *b = (struct bench){ .clock = { 0, 0 } };
    b->json = json ? noun_json(json) : NULL;
    opts.json = b->json;
    b->engine = turns_engine(scripts, tools, &b->clock);
    b->thread = turns_thread();
    b->stream = allm_chat(b->engine, b->thread, &opts);
}

static void end(struct bench *b)
{
    allm_stream_free(b->stream);
    allm_thread_free(b->thread);
    allm_engine_free(b->engine);
    allm_json_free(b->json);
}

static const allm_chat_result *wait_for(struct bench *b)
{
    CHECK_INT(allm_stream_wait(b->stream), ALLM_OK);
    const allm_chat_result *r = allm_stream_chat_result(b->stream);
    CHECK(r);
    return r;
}

/* ---------------------------------------------------------- how it ends --- */

static bool always(const allm_step_result *s, void *ud)
{
    (void)s;
    ++*(int *)ud;
    return true;
}

static bool never(const allm_step_result *s, void *ud)
{
    (void)s;
    ++*(int *)ud;
    return false;
}

static bool on_results(const allm_step_result *s, void *ud)
{
    ++*(int *)ud;
    return s->tool_result_count > 0;
}

struct row {
    const char *why, *scripts, *tools, *opts;
    allm_halt_fn halt_when;
    const char *reason;
    size_t steps;
    const char *messages, *metadata;
};

static const struct row rows[] = {
    { "C-01 a text", "[" SAY("hello") "]", "echo=echo", NULL, NULL,
      "completed", 1, "u:hi a:hello", "{}" },
    { "C-02 a tool, then a text", TWO, "echo=echo", NULL, NULL, "completed", 2,
      "u:hi a:(c0) t:c0={\"x\":1} a:done", "{}" },
    { "C-03 max_turns", THREE, "echo=ok:1", "{'max_turns': 2}", NULL,
      "max_turns", 2, "u:hi a:(c0) t:c0=1 a:(c1) t:c1=1",
      "{'max_turns':2}" },
    { "C-04 max_turns 1", THREE, "echo=ok:1", "{'max_turns': 1}", NULL,
      "max_turns", 1, "u:hi a:(c0) t:c0=1", "{'max_turns':1}" },
    { "C-08 halt_when", TWO, "echo=ok:1", NULL, on_results, "halt_when", 1,
      "u:hi a:(c0) t:c0=1", "{'halt_when_step_index':0}" },
    { "C-08 halt_when never", TWO, "echo=ok:1", NULL, never, "completed", 2,
      NULL, "{}" },
    { "C-09 a failure is told to the model", TWO, "echo=raise:boom", NULL,
      NULL, "completed", 2, NULL, "{}" },
    { "C-09 a failure halts", TWO, "echo=fail:boom",
      "{'on_tool_error': 'halt'}", NULL, "tool_error", 1,
      "u:hi a:(c0) t:c0={\"error\":\"boom\"}", "{'halt_tool_call_id':'c0'}" },
    { "C-11 a tool halts", TWO, "echo=halt:plan_submitted:{'ok':1}", NULL,
      NULL, "plan_submitted", 1, "u:hi a:(c0) t:c0={\"ok\":1}",
      "{'halt_tool_call_id':'c0','halt_result':{'ok':1}}" },
    { "C-13 a tool asks", TWO, "echo=ask2:which city?", NULL, NULL, "ask_user",
      1, "u:hi a:(c0) t:c0=<awaiting user response> a:which city?",
      "{'pending_tool_call_id':'c0','pending_question':'which city?',"
      "'ask_user_opts':{'choices':['A','B']}}" },
    { "C-14 mode manual", TWO, "echo=echo", "{'mode': 'manual'}", NULL,
      "manual_tool_calls", 1, "u:hi a:(c0)", "{'manual_turn_index':0}" },
    { "C-14 mode manual and a text", "[" SAY("x") "]", "echo=echo",
      "{'mode': 'manual'}", NULL, "completed", 1, "u:hi a:x", "{}" },
    { "C-15 an answer breaks off",
      "[" TURN("c0", "echo") ", [['error', 'rate_limited']]]", "echo=ok:1",
      NULL, NULL, "error", 2, "u:hi a:(c0) t:c0=1 a:", NULL },
    { "D-6 a later call cannot begin",
      "[" TURN("c0", "echo") ", [['preflight_error', 'timeout']]]",
      "echo=ok:1", NULL, NULL, "error", 1, "u:hi a:(c0) t:c0=1", NULL },
    { "D-6 the script is used up", "[" TURN("c0", "echo") "]", "echo=ok:1",
      NULL, NULL, "error", 1, "u:hi a:(c0) t:c0=1", NULL },
    { "an unknown tool in the first turn",
      "[" TURN("c0", "missing") ", " SAY("x") "]", "echo=echo", NULL, NULL,
      "error", 1, "u:hi a:(c0)", NULL },
    { "an unknown tool in a later turn",
      "[" TURN("c0", "echo") ", " TURN("c1", "missing") ", " SAY("x") "]",
      "echo=ok:1", NULL, NULL, "error", 2, "u:hi a:(c0) t:c0=1 a:(c1)", NULL },
    { "C-16 ask_user before halt_when", TWO, "echo=ask:q", NULL, always,
      "ask_user", 1, NULL, NULL },
    { "C-16 a halt before halt_when", TWO, "echo=halt:own:1", NULL, always,
      "own", 1, NULL, NULL },
    { "C-16 tool_error before halt_when", TWO, "echo=fail:x",
      "{'on_tool_error': 'halt'}", always, "tool_error", 1, NULL, NULL },
    { "C-16 manual before halt_when", TWO, "echo=echo", "{'mode': 'manual'}",
      always, "manual_tool_calls", 1, NULL, NULL },
    { "C-16 completed before halt_when", "[" SAY("x") "]", "echo=echo", NULL,
      always, "completed", 1, NULL, NULL },
    { "C-16 halt_when before max_turns", TWO, "echo=ok:1", "{'max_turns': 1}",
      always, "halt_when", 1, NULL, "{'halt_when_step_index':0}" },
    { "C-12 a reserved word is a failure", TWO, "echo=halt:completed:1", NULL,
      NULL, "completed", 2, NULL, "{}" },
    { "C-12 which may halt", TWO, "echo=halt:max_turns:1",
      "{'on_tool_error': 'halt'}", NULL, "tool_error", 1, NULL,
      "{'halt_tool_call_id':'c0'}" },
    { "D-24 error is reserved", TWO, "echo=halt:error:1",
      "{'on_tool_error': 'halt'}", NULL, "tool_error", 1, NULL, NULL },
    { "a tool that does not answer has failed", TWO, "echo=none",
      "{'on_tool_error': 'halt'}", NULL, "tool_error", 1, NULL, NULL },
    { "a tool is too late", TWO, "echo=later:50:ok:1",
      "{'tool_timeout': 9, 'on_tool_error': 'halt'}", NULL, "tool_error", 1,
      NULL, "{'halt_tool_call_id':'c0'}" },
    { "length is completed", "[[['text', 'x'], ['finish', 'length']]]",
      "echo=echo", NULL, NULL, "completed", 1, "u:hi a:x", "{}" },
    { "content_filter is completed", "[[['finish', 'content_filter']]]",
      "echo=echo", NULL, NULL, "completed", 1, "u:hi a:", "{}" },
    { "D-3 no finish reason goes on", "[[['text', 'a']], " SAY("b") "]",
      "echo=echo", NULL, NULL, "completed", 2, "u:hi a:a a:b", "{}" },
    { "D-3 tool_calls without calls goes on",
      "[[['finish', 'tool_calls']], [['finish', 'tool_calls']]]", "echo=echo",
      "{'max_turns': 2}", NULL, "max_turns", 2, "u:hi a: a:",
      "{'max_turns':2}" },
    { "a finish behind an error counts",
      "[[['error', 'timeout'], ['finish', 'stop']]]", "echo=echo", NULL, NULL,
      "completed", 1, "u:hi a:", "{}" },
};

static void a_chat_ends_for_one_reason(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct bench b;
        int asked = 0;
        check_row(r->why);
        begin(&b, r->scripts, r->tools, r->opts,
              ALLM(call_opts, .halt_when = r->halt_when,
                   .halt_when_ud = &asked));
        const allm_chat_result *c = wait_for(&b);
        CHECK_TEXT(GET(c, halted_reason), r->reason);
        CHECK_INT(GET(c, step_count), r->steps);
        if (r->messages)
            CHECK_TEXT(turns_messages(GET(c, thread)), r->messages);
        if (r->metadata)
            CHECK_VALUE(GET(c, metadata), r->metadata);
        bool asks = !strcmp(r->reason, "ask_user");
        CHECK(c && !c->pending_question == !asks);
        CHECK(c && !c->error == (strcmp(r->reason, "error") != 0 &&
                                 strcmp(r->reason, "tool_error") != 0));
        CHECK(c && allm_stream_response(b.stream) == c->final_response);
        CHECK_INT(asked, r->halt_when && (!strcmp(r->reason, "halt_when") ||
                                          r->halt_when == never));
        end(&b);
    }
}

static void the_question_is_the_last_word(void)
{
    struct bench b;
    begin(&b, TWO, "echo=ask:which?", NULL, NULL);
    const allm_chat_result *c = wait_for(&b);
    const allm_message *m = c ? allm_thread_last(c->thread) : NULL;
    CHECK_VALUE(GET(m, metadata), "{'ask_user':true,'tool_call_id':'c0'}");
    CHECK_TEXT(GET(c, pending_question), "which?");
    CHECK_TEXT(GET(c, pending_tool_call_id), "c0");
    CHECK_INT(c ? allm_thread_count(c->steps[0]->thread) : 0, 3);
    end(&b);
}

/* C-05, C-06, C-07 */
static void turns_are_counted(void)
{
    char nine[4096] = "[";
    for (int i = 0; i < 9; i++)
        strncat(nine, TURN("c0", "echo") ", ", sizeof nine - strlen(nine) - 1);
    strncat(nine, SAY("x") "]", sizeof nine - strlen(nine) - 1);
    struct bench b;
    begin(&b, nine, "echo=ok:1", NULL, NULL);
    const allm_chat_result *c = wait_for(&b);
    CHECK_INT(GET(c, step_count), 8);
    CHECK_VALUE(GET(c, metadata), "{'max_turns':8}");
    end(&b);

    static const char *const wrong[] = { "{'max_turns': 0}",
                                         "{'max_turns': -1}",
                                         "{'max_turns': 1.5}",
                                         "{'max_turns': '8'}" };
    for (int i = 0; i < 4; i++) {
        allm_engine *none = allm_engine_new(NULL);
        allm_thread *t = turns_thread();
        allm_json *json = noun_json(wrong[i]);
        allm_stream *s = allm_chat(none, t, ALLM(call_opts, .json = json));
        CHECK_TEXT(turns_play(s), "misuse invalid_option");
        allm_stream_free(s);
        allm_json_free(json);
        allm_thread_free(t);
        allm_engine_free(none);
    }
}

static void an_engine_may_limit_turns(void)
{
    static const struct {
        const char *param;
        uint32_t opt;
        const char *events;
    } told[] = {
        { "4", 1, "{'max_turns':1}" },
        { "1", 0, "{'max_turns':1}" },
        { "'x'", 0, NULL },
        { "0", 0, NULL },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        allm_engine *e = turns_engine(THREE, "echo=ok:1", NULL);
        allm_json *n = noun_json(told[i].param);
        allm_engine *with = allm_engine_put_param(e, "max_turns", n);
        allm_thread *t = turns_thread();
        allm_stream *s = allm_chat(with, t,
                                   ALLM(call_opts, .max_turns = told[i].opt));
        allm_status status = allm_stream_wait(s);
        const allm_chat_result *c = allm_stream_chat_result(s);
        CHECK_INT(status, told[i].events ? ALLM_OK : ALLM_ERR_MISUSE);
        if (told[i].events)
            CHECK_VALUE(GET(c, metadata), told[i].events);
        allm_stream_free(s);
        allm_thread_free(t);
        allm_json_free(n);
        allm_engine_free(with);
        allm_engine_free(e);
    }
}

/* ------------------------------------------------------------ by events --- */

static void a_chat_is_pulled(void)
{
    static const struct {
        const char *why, *scripts, *tools, *opts, *events;
    } told[] = {
        { "L-01 two turns", TWO, "echo=ok:1", NULL,
          "m c:c0/echo m.tool_calls +c0 c0={\"ok\":1} c0>1 step[uat] m a:done "
          "t=done m.stop step[uata] chat[completed] ok" },
        { "L-04 a question", TWO, "echo=ask:q", NULL,
          "m c:c0/echo m.tool_calls +c0 c0={\"ask_user\":\"q\",\"opts\":{}} "
          "c0?q step[uat] chat[ask_user] ok" },
        { "L-05 manual", TWO, "echo=ok:1", "{'mode': 'manual'}",
          "m c:c0/echo m.tool_calls step[ua] chat[manual_tool_calls] ok" },
        { "L-10 an error in the middle",
          "[" TURN("c0", "echo") ", [['text', 'a'], ['error', 'timeout']]]",
          "echo=ok:1", NULL,
          "m c:c0/echo m.tool_calls +c0 c0={\"ok\":1} c0>1 step[uat] m a:a "
          "e:timeout t=a m.null step[uata] chat[error] ok" },
        { "D-6 a later turn cannot begin",
          "[" TURN("c0", "echo") ", [['preflight_error', 'timeout']]]",
          "echo=ok:1", NULL,
          "m c:c0/echo m.tool_calls +c0 c0={\"ok\":1} c0>1 step[uat] "
          "chat[error] ok" },
        { "D-7 an unknown tool", "[" TURN("c0", "missing") ", " SAY("x") "]",
          "echo=ok:1", NULL,
          "m c:c0/missing m.tool_calls e:unknown_tool step[ua] chat[error] "
          "ok" },
        { "L-09 it cannot begin", "[[['preflight_error', 'timeout']]]",
          "echo=ok:1", NULL, "adapter timeout" },
        { "deltas may be left out", "[" SAY("x") "]", "echo=ok:1",
          "{'emit_text_deltas': false}",
          "m t=x m.stop step[ua] chat[completed] ok" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct bench b;
        check_row(told[i].why);
        begin(&b, told[i].scripts, told[i].tools, told[i].opts, NULL);
        CHECK_TEXT(turns_play(b.stream), told[i].events);
        end(&b);
    }
}

/* D-22, L-02, L-03 */
static void the_next_turn_opens_on_the_next_pull(void)
{
    struct bench b;
    const allm_event *event = NULL;
    begin(&b, TWO, "echo=ok:1", NULL, NULL);
    while (allm_stream_next(b.stream, &event) == ALLM_EVENT &&
           event->type != ALLM_EV_STEP_COMPLETED)
        ;
    CHECK_INT(allm_fake_calls(b.engine), 1);
    allm_stream_free(b.stream);
    b.stream = NULL;
    CHECK_INT(allm_fake_calls(b.engine), 1);
    CHECK_INT(allm_fake_released(b.engine), 1);
    end(&b);
}

/* If it is abandoned, the result is the fold of the events so far. */
static void a_chat_left_is_the_fold_of_what_was_seen(void)
{
    static const char *const scripts[] = {
        "[" SAY("word") "]",
        "[[['text', 'par'], ['text', 't'], ['error', 'timeout']]]",
        "[" TURN("c0", "echo") ", [['text', 'x'], ['error', 'timeout'], "
        "['finish', 'stop']]]",
    };
    for (int i = 0; i < 3 * 16; i++) {
        struct bench b;
        const allm_event *event = NULL;
        begin(&b, scripts[i / 16], "echo=ok:1", NULL, NULL);
        check_row(scripts[i / 16]);
        allm_collector *fold = allm_collector_new(b.thread);
        for (int n = i % 16;
             n && allm_stream_next(b.stream, &event) == ALLM_EVENT; n--)
            allm_collector_add(fold, event);
        allm_stream_cancel(b.stream);
        CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
        const allm_chat_result *c = allm_stream_chat_result(b.stream);
        allm_chat_result *f = allm_collector_chat_result(fold);
        CHECK_TEXT(GET(c, halted_reason), GET(f, halted_reason));
        CHECK_INT(GET(c, step_count), GET(f, step_count));
        char messages[512];
        snprintf(messages, sizeof messages, "%s",
                 turns_messages(GET(f, thread)));
        CHECK_TEXT(turns_messages(GET(c, thread)), messages);
        const allm_response *mine = GET(c, final_response);
        const allm_response *theirs = GET(f, final_response);
        CHECK_TEXT(GET(mine, output_text), GET(theirs, output_text));
        allm_chat_result_free(f);
        allm_collector_free(fold);
        end(&b);
    }
}

static void a_chat_may_be_left_anywhere(void)
{
    for (int cut = 0; cut < 14; cut++) {
        struct bench b;
        const allm_event *event = NULL;
        int seen = 0, steps = 0;
        begin(&b, TWO, "echo=later:20:ok:1", NULL, NULL);
        bool completed = false;
        while (seen < cut && allm_stream_next(b.stream, &event) == ALLM_EVENT) {
            steps += event->type == ALLM_EV_STEP_COMPLETED;
            completed = event->type == ALLM_EV_CHAT_COMPLETED;
            seen++;
        }
        allm_stream_cancel(b.stream);
        CHECK_INT(allm_stream_next(b.stream, &event), ALLM_OK);
        const allm_chat_result *c = allm_stream_chat_result(b.stream);
        CHECK_TEXT(GET(c, halted_reason),
                   completed ? "completed" : "cancelled");
        CHECK_INT(GET(c, step_count), steps);
        end(&b);
    }
}

/* --------------------------------------------------------- two passes --- */

#define FORMAT "{'type': 'json_schema', 'name': 'n', 'schema': " \
               "{'type': 'object', 'required': ['a']}, 'strict': true}"
#define FINAL "{'structured_finalize': true, 'response_format': " FORMAT

static void structured_answers_take_two_passes(void)
{
    static const struct {
        const char *why, *scripts, *tools, *opts, *reason, *metadata, *messages;
        size_t steps;
    } told[] = {
        { "C-20 both passes",
          "[" TURN("c0", "echo") ", " SAY("tool done") ", " SAY("{}") "]",
          "echo=ok:1", FINAL "}", "completed",
          "{'structured_finalize':{'pass_1_halted':'completed'}}",
          "u:hi a:(c0) t:c0=1 a:tool done u:Now provide your final structured "
          "response. a:{}", 3 },
        { "C-21 a question ends it", "[" TURN("c0", "echo") ", " SAY("x") "]",
          "echo=ask:q", FINAL "}", "ask_user", NULL, NULL, 1 },
        { "C-22 a tool error ends it", "[" TURN("c0", "echo") ", " SAY("x") "]",
          "echo=fail:q", FINAL ", 'on_tool_error': 'halt'}", "tool_error",
          "{'halt_tool_call_id':'c0','structured_finalize':"
          "{'pass_1_halted':'tool_error'}}", NULL, 1 },
        { "C-23 the turns of pass 1 do not count for pass 2",
          "[" TURN("c0", "echo") ", " TURN("c1", "echo") ", " SAY("{}") "]",
          "echo=ok:1", FINAL ", 'max_turns': 2}", "completed",
          "{'structured_finalize':{'pass_1_halted':'max_turns'}}", NULL, 3 },
        { "C-24 another nudge", "[" SAY("x") ", " SAY("{}") "]", "echo=ok:1",
          FINAL ", 'structured_finalize_nudge': 'Now!'}", "completed", NULL,
          "u:hi a:x u:Now! a:{}", 2 },
        { "C-24 no nudge", "[" SAY("x") ", " SAY("{}") "]", "echo=ok:1",
          FINAL ", 'structured_finalize_nudge': ''}", "completed", NULL,
          "u:hi a:x a:{}", 2 },
        { "C-25 without the flag", "[" SAY("x") "]", "echo=ok:1",
          "{'response_format': " FORMAT "}", "completed", "{}", "u:hi a:x", 1 },
        { "D-10 pass 2 cannot begin",
          "[" SAY("x") ", [['preflight_error', 'authentication_failed']]]",
          "echo=ok:1", FINAL "}", "completed", NULL, "u:hi a:x", 1 },
        { "D-10 pass 2 breaks off",
          "[" SAY("x") ", [['text', 'y'], ['error', 'timeout']]]", "echo=ok:1",
          FINAL "}", "completed", NULL, "u:hi a:x", 1 },
        { "an answer of pass 2 that does not fit is one",
          "[" SAY("x") ", " SAY("{}") "]", "echo=ok:1",
          FINAL ", 'validate_output': true, 'output_retries': 0}", "error",
          NULL, NULL, 2 },
        { "pass 2 is one turn", "[" SAY("x") ", [['finish', 'tool_calls']]]",
          "echo=ok:1", FINAL "}", "max_turns",
          "{'max_turns':1,'structured_finalize':"
          "{'pass_1_halted':'completed'}}", NULL, 2 },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct bench b;
        check_row(told[i].why);
        begin(&b, told[i].scripts, told[i].tools, told[i].opts, NULL);
        const allm_chat_result *c = wait_for(&b);
        CHECK_TEXT(GET(c, halted_reason), told[i].reason);
        CHECK_INT(GET(c, step_count), told[i].steps);
        if (told[i].metadata)
            CHECK_VALUE(GET(c, metadata), told[i].metadata);
        if (told[i].messages)
            CHECK_TEXT(turns_messages(GET(c, thread)), told[i].messages);
        end(&b);
    }
}

static void the_second_pass_has_no_tools(void)
{
    struct bench b;
    begin(&b, "[" SAY("x") ", " SAY("{}") "]", "echo=ok:1", FINAL "}", NULL);
    CHECK_TEXT(turns_play(b.stream),
               "m a:x t=x m.stop step[ua] m a:{} t={} m.stop step[uaua] "
               "chat[completed] ok");
    allm_json *seen = allm_fake_requests(b.engine);
    const allm_json *one = allm_json_at(seen, 0), *two = allm_json_at(seen, 1);
    CHECK_INT(allm_json_count(allm_json_get(one, "tools")), 1);
    CHECK_INT(allm_json_count(allm_json_get(two, "tools")), 0);
    CHECK_INT(allm_json_type_of(allm_json_get(one, "response_format")),
              ALLM_JSON_NULL);
    CHECK_INT(allm_json_type_of(allm_json_get(two, "response_format")),
              ALLM_JSON_OBJECT);
    allm_json_free(seen);
    end(&b);

    begin(&b, "[" SAY("x") "]", "echo=ok:1", "{'structured_finalize': true}",
          NULL);
    CHECK_TEXT(turns_play(b.stream), "validation invalid_request");
    end(&b);

    begin(&b, "[" SAY("x") ", [['preflight_error', 'timeout']]]", "echo=ok:1",
          FINAL "}", NULL);
    const allm_chat_result *c = wait_for(&b);
    const allm_json *f = allm_json_get(GET(c, metadata), "structured_finalize");
    CHECK(allm_json_get(f, "pass_2_error"));
    CHECK_TEXT(allm_json_text(allm_json_get(f, "pass_1_halted"), NULL),
               "completed");
    end(&b);
}

/* ------------------------------------------------------ checked answers --- */

static void an_answer_may_have_to_fit(void)
{
    static const struct {
        const char *why, *scripts, *opts, *reason, *metadata, *messages;
    } told[] = {
        { "it fits", "[" SAY("{\\\"a\\\": 1}") "]", "", "completed",
          "{'structured':{'a':1}}", NULL },
        { "the second fits", "[" SAY("no") ", " SAY("{\\\"a\\\": 1}") "]", "",
          "completed", "{'structured':{'a':1}}", NULL },
        { "it never fits", "[" SAY("no") ", " SAY("{}") ", " SAY("{}") "]", "",
          "error", NULL, NULL },
        { "no second chance", "[" SAY("no") ", " SAY("{}") "]",
          ", 'output_retries': 0", "error", NULL, "u:hi a:no" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        char opts[1024] =
            "{'validate_output': true, 'response_format': " FORMAT;
        struct bench b;
        strncat(opts, told[i].opts, 200);
        strncat(opts, "}", 2);
        check_row(told[i].why);
        begin(&b, told[i].scripts, "", opts, NULL);
        const allm_chat_result *c = wait_for(&b);
        CHECK_TEXT(GET(c, halted_reason), told[i].reason);
        if (told[i].metadata)
            CHECK_VALUE(GET(c, metadata), told[i].metadata);
        if (told[i].messages)
            CHECK_TEXT(turns_messages(GET(c, thread)), told[i].messages);
        if (!strcmp(told[i].reason, "error")) {
            CHECK_ERROR(GET(c, error), ALLM_ERR_VALIDATION, "invalid_output",
                        "schema");
            CHECK(c && c->error &&
                  allm_json_get(c->error->metadata, "raw_text"));
        }
        end(&b);
    }
}

/* ------------------------------------------------------ per-tool manual --- */

#define MIXED "[[" CALL("ca", "weather", "{}") ", " CALL("cm", "charge", "{}") \
              ", ['finish', 'tool_calls']], " SAY("paid") "]"

static void manual_calls_are_answered_by_hand(void)
{
    struct bench b;
    begin(&b, MIXED, "weather=ok:1;charge!=ok:2", NULL, NULL);
    const allm_chat_result *c = wait_for(&b);
    CHECK_TEXT(GET(c, halted_reason), "manual_tool_calls");
    const allm_json *calls = allm_json_get(GET(c, metadata),
                                           "manual_tool_calls");
    CHECK_INT(allm_json_count(calls), 1);
    CHECK_INT(allm_json_count(GET(c, metadata)), 2);
    CHECK_INT(turns_runs(), 1);
    allm_thread *t = c ? allm_thread_copy(c->thread) : NULL;
    allm_message *m = allm_message_from_result("cm", "charged");
    allm_thread_append(t, m);
    allm_stream *again = allm_chat(b.engine, t, NULL);  /* M-08 */
    CHECK_INT(allm_stream_wait(again), ALLM_OK);
    c = allm_stream_chat_result(again);
    CHECK_TEXT(GET(c, halted_reason), "completed");
    CHECK_TEXT(turns_messages(GET(c, thread)),
               "u:hi a:(ca,cm) t:ca=1 t:cm=charged a:paid");
    allm_stream_free(again);
    allm_message_free(m);
    allm_thread_free(t);
    end(&b);

    begin(&b, MIXED, "weather=ok:1;charge!=ok:2", "{'mode': 'manual'}", NULL);
    c = wait_for(&b);
    CHECK_VALUE(GET(c, metadata), "{'manual_turn_index':0}");   /* M-05 */
    CHECK_INT(turns_runs(), 0);
    end(&b);

    begin(&b, MIXED, "weather=halt:enough:1;charge!=ok:2", NULL, NULL);
    c = wait_for(&b);
    CHECK_TEXT(GET(c, halted_reason), "enough");        /* D-16 */
    CHECK_INT(allm_json_count(
                  allm_json_get(GET(c, metadata), "unresolved_tool_calls")),
              1);
    end(&b);
}

/* ----------------------------------------------------------- what leaks --- */

/* C-18, D-13, I-30 */
static void loop_options_do_not_reach_the_adapter(void)
{
    struct bench b;
    begin(&b, TWO, "echo=ok:1",
          "{'max_turns': 3, 'mode': 'auto', 'tool_timeout': 5, "
          "'on_tool_error': 'continue', 'seed': 7, 'session_id': 's'}",
          NULL);
    wait_for(&b);
    allm_json *seen = allm_fake_requests(b.engine);
    CHECK_INT(allm_json_count(seen), 2);
    CHECK(allm_json_equal(allm_json_get(allm_json_at(seen, 0), "tools"),
                          allm_json_get(allm_json_at(seen, 1), "tools")));
    const allm_json *options = allm_json_get(allm_json_at(seen, 0), "options");
    CHECK(!allm_json_get(options, "max_turns"));
    CHECK(!allm_json_get(options, "session_id"));
    allm_json_free(seen);
    end(&b);
}

static void answer(void *self, const allm_tool *tool, allm_tool_run *run,
                   const allm_json *args)
{
    (void)self;
    (void)tool;
    (void)args;
    allm_tool_text(run, "mine", ALLM_NUL_ENDED);
}

static void shout(void *self, const allm_json *value, bool is_error,
                  allm_encoding *out)
{
    (void)self;
    (void)value;
    (void)is_error;
    allm_encoding_text(out, "LOUD", ALLM_NUL_ENDED);
}

static void tables_outlive_the_callers(void)
{
    struct bench b;
    allm_executor x = { .size = sizeof x, .execute = answer,
                        .flags = ALLM_EXECUTOR_INLINE };
    allm_encoder y = { .size = sizeof y, .encode = shout };
    begin(&b, TWO, "echo=ok:1", NULL,
          ALLM(call_opts, .executor = &x, .encoder = &y));
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    const allm_chat_result *c = wait_for(&b);
    CHECK_TEXT(turns_messages(GET(c, thread)), "u:hi a:(c0) t:c0=LOUD a:done");
    end(&b);
}

/* A table by an older header, which ends behind its function. */
static void tables_may_be_shorter(void)
{
    struct bench b;
    size_t size = offsetof(allm_executor, execute) + sizeof(void (*)(void));
    allm_executor x = { .size = size, .execute = answer };
    memset((char *)&x + size, 0xff, sizeof x - size);
    begin(&b, TWO, "echo=ok:1", NULL, ALLM(call_opts, .executor = &x));
    const allm_chat_result *c = wait_for(&b);
    CHECK_TEXT(turns_messages(GET(c, thread)), "u:hi a:(c0) t:c0=mine a:done");
    end(&b);
}

/* A key given to a call lives until the last turn, though the caller's text
 * is gone. */
static void options_outlive_the_callers(void)
{
    struct bench b;
    char key[8] = "secret", id[8] = "my-id";
    begin(&b, TWO, "echo=ok:1", NULL,
          ALLM(call_opts, .api_key = key, .request_id = id));
    memset(key, 'x', sizeof key);
    memset(id, 'x', sizeof id);
    const allm_chat_result *c = wait_for(&b);
    CHECK_TEXT(c ? c->steps[1]->response->request_id : NULL, "my-id");
    CHECK_TEXT(allm_stream_request_id(b.stream), "my-id");
    end(&b);
}

/* --------------------------------------------------------------- traces --- */

struct spans {
    char told[1024];
    char id[64];
    bool same;
};

static void on_trace(const allm_trace_event *e, void *ud)
{
    struct spans *s = ud;
    size_t n = strlen(s->told);
    if (n + 40 < sizeof s->told) {
        strncat(s->told, e->what[2] == 'a' ? "<" : ">", 2);
        strncat(s->told, e->span, 10);
    }
    if (!*s->id)
        strncat(s->id, e->request_id, sizeof s->id - 1);
    s->same = s->same && !strcmp(s->id, e->request_id);
}

static void spans_lie_inside_one_another(void)
{
    struct spans spans = { .same = true };
    allm_json *opts = noun_json("{'scripts': " TWO "}");
    allm_engine *bare = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
             .trace = on_trace, .trace_ud = &spans));
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "echo", .description = "", .schema_text = "{}"));
    allm_engine *e = allm_engine_put_tool(bare, tool);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_chat(e, t, NULL);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(spans.told,
               "<chat<step<generate<stream>stream>generate<tool>tool>step"
               "<step<generate<stream>stream>generate>step>chat");
    CHECK(spans.same);
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
    allm_engine_free(bare);
    allm_tool_free(tool);
    allm_json_free(opts);
}

/* ----------------------------------------------------- chat == its fold --- */

static uint32_t draw(struct random r, uint32_t below)
{
    uint32_t n = 0;
    random_fill(r, &n, sizeof n);
    return n % below;
}

static const char *const actions[] = {
    "ok:1", "text:a", "fail:bad", "raise:boom", "halt:own:{'v':1}", "ask:q?",
    "later:5:ok:2", "later:9:halt:late:3", "none", "echo",
};

static void add(char *out, size_t size, const char *word)
{
    strncat(out, word, size - strlen(out) - 1);
}

/* A script of one to four turns, with up to four calls each. */
static void write_script(struct random r, char *out, size_t size)
{
    static const char *const names[] = { "a", "b", "c", "m", "missing" };
    static const char *const ids[] = { "i0", "i1", "i2", "i3", "i4", "i5" };
    static const char *const ends[] = { "tool_calls", "tool_calls", "stop",
                                        "length" };
    uint32_t turns = 1 + draw(r, 4);
    add(out, size, "[");
    for (uint32_t i = 0; i < turns; i++) {
        add(out, size, i ? ", [" : "[");
        if (draw(r, 2))
            add(out, size, "['text', 'word'], ");
        if (draw(r, 4) == 0)
            add(out, size, "['usage', {'input_tokens': 3}], ");
        for (uint32_t n = draw(r, 4); n; n--) {
            add(out, size, "['tool_call', {'id': '");
            add(out, size, ids[draw(r, 6)]);
            add(out, size, "', 'name': '");
            add(out, size, names[draw(r, draw(r, 8) ? 4 : 5)]);
            add(out, size, "', 'arguments': {'n': 1}}], ");
        }
        if (draw(r, 10) == 0)
            add(out, size, "['error', 'timeout'], ");
        add(out, size, "['finish', '");
        add(out, size, ends[draw(r, 4)]);
        add(out, size, "']]");
    }
    add(out, size, ", " SAY("end") "]");
}

static void write_tools(struct random r, char *out, size_t size)
{
    static const char *const names[] = { "a=", "b=", "c~=", "m!=" };
    for (int i = 0; i < 4; i++) {       /* c runs in a worker */
        add(out, size, names[i]);
        add(out, size, actions[draw(r, 10)]);
        add(out, size, ";");
    }
}

static const char *const options[] = {
    "{}", "{'on_tool_error': 'halt'}", "{'max_turns': 2}",
    "{'mode': 'manual'}", "{'live_tool_events': true}",
    "{'emit_text_deltas': false}",
};

/* The steps as a fold without the last event sees them. */
static void compare_steps(const allm_chat_result *folded,
                          const allm_chat_result *waited)
{
    CHECK_INT(GET(folded, step_count), GET(waited, step_count));
    for (size_t i = 0; folded && waited && i < folded->step_count; i++) {
        allm_text *a = allm_step_result_json(folded->steps[i], 0);
        allm_text *b = allm_step_result_json(waited->steps[i], 0);
        CHECK_TEXT(allm_text_bytes(a, NULL), allm_text_bytes(b, NULL));
        allm_text_free(a);
        allm_text_free(b);
    }
}

/* Waited for, and pulled into a collector of the caller's: the same JSON. */
static void compare(bool step, const char *script, const char *tools,
                    const char *opts)
{
    struct bench b[2];
    allm_text *text[2] = { NULL, NULL };
    allm_status status[2];
    for (int i = 0; i < 2; i++) {
        begin(&b[i], script, tools, opts, NULL);
        if (step) {
            allm_stream_free(b[i].stream);
            b[i].stream = allm_step(b[i].engine, b[i].thread,
                                    ALLM(call_opts, .json = b[i].json,
                                         .request_id = "r"));
        } else {
            allm_stream_free(b[i].stream);
            b[i].stream = allm_chat(b[i].engine, b[i].thread,
                                    ALLM(call_opts, .json = b[i].json,
                                         .request_id = "r"));
        }
    }
    status[0] = allm_stream_wait(b[0].stream);
    text[0] =
        step ? allm_step_result_json(allm_stream_step_result(b[0].stream), 0)
             : allm_chat_result_json(allm_stream_chat_result(b[0].stream), 0);
    allm_collector *c = allm_collector_new(b[1].thread);
    const allm_event *event;
    allm_chat_result *folded = NULL, *partly = NULL;
    while ((status[1] = allm_stream_next(b[1].stream, &event)) == ALLM_EVENT) {
        if (event->type == ALLM_EV_CHAT_COMPLETED)
            partly = allm_collector_chat_result(c);
        allm_collector_add(c, event);
    }
    folded = allm_collector_chat_result(c);
    text[1] = step ? allm_step_result_json(folded && folded->step_count
                                               ? folded->steps[0]
                                               : NULL,
                                           0)
                   : allm_chat_result_json(folded, 0);
    if (!step)
        compare_steps(partly, allm_stream_chat_result(b[0].stream));
    const allm_error *error = allm_stream_error(b[0].stream);
    bool unknown = step && status[0] == ALLM_ERR_ENGINE && error &&
                   !strcmp(error->reason, "unknown_tool");
    if (!unknown) {
        CHECK_INT(status[0], status[1]);
        CHECK_TEXT(allm_text_bytes(text[0], NULL),
                   allm_text_bytes(text[1], NULL));
    }
    allm_chat_result_free(partly);
    allm_chat_result_free(folded);
    allm_collector_free(c);
    for (int i = 0; i < 2; i++) {
        allm_text_free(text[i]);
        end(&b[i]);
    }
}

/* However one pulls, the result is the same: some events and then wait, or in
 * a hub. */
static void pull_somehow(struct random r, const char *script, const char *tools,
                         const char *opts)
{
    allm_text *text[3];
    for (int i = 0; i < 3; i++) {
        struct bench b;
        const allm_event *event;
        allm_hub *hub = NULL;
        begin(&b, script, tools, opts, ALLM(call_opts, .request_id = "r"));
        if (i == 1)
            for (uint32_t n = draw(r, 20); n; n--)
                allm_stream_next(b.stream, &event);
        if (i == 2) {
            allm_clock clock = play_clock(&b.clock);
            hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
            CHECK_INT(allm_hub_add(hub, b.stream, NULL), ALLM_OK);
            while (allm_hub_wait(hub, -1, NULL))
                while (allm_stream_next(b.stream, &event) == ALLM_EVENT)
                    ;
        }
        allm_stream_wait(b.stream);
        text[i] = allm_chat_result_json(allm_stream_chat_result(b.stream), 0);
        end(&b);
        allm_hub_free(hub);
    }
    for (int i = 1; i < 3; i++)
        CHECK_TEXT(allm_text_bytes(text[0], NULL),
                   allm_text_bytes(text[i], NULL));
    for (int i = 0; i < 3; i++)
        allm_text_free(text[i]);
}

static void it_does_not_matter_how_one_pulls(void)
{
    struct random r = check_random();
    for (int i = 0; i < 300; i++) {
        char script[4096] = "", tools[512] = "";
        write_script(r, script, sizeof script);
        write_tools(r, tools, sizeof tools);
        check_row(script);
        pull_somehow(r, script, tools, options[draw(r, 6)]);
    }
}

static void compare_many(bool step, int n)
{
    struct random r = check_random();
    for (int i = 0; i < n; i++) {
        char script[4096] = "", tools[512] = "";
        write_script(r, script, sizeof script);
        write_tools(r, tools, sizeof tools);
        check_row(script);
        compare(step, script, tools, options[draw(r, 6)]);
    }
}

static void a_step_is_the_fold_of_its_events(void)
{
    compare_many(true, 1000);
}

static void a_chat_is_the_fold_of_its_events(void)
{
    compare_many(false, 1000);
}

TESTS = {
    TEST(a_chat_ends_for_one_reason),
    TEST(the_question_is_the_last_word),
    TEST(turns_are_counted),
    TEST(an_engine_may_limit_turns),
    TEST(a_chat_is_pulled),
    TEST(the_next_turn_opens_on_the_next_pull),
    TEST(a_chat_may_be_left_anywhere),
    TEST_ONCE(a_chat_left_is_the_fold_of_what_was_seen),
    TEST(structured_answers_take_two_passes),
    TEST(the_second_pass_has_no_tools),
    TEST(an_answer_may_have_to_fit),
    TEST(manual_calls_are_answered_by_hand),
    TEST(loop_options_do_not_reach_the_adapter),
    TEST(options_outlive_the_callers),
    TEST(tables_outlive_the_callers),
    TEST_ONCE(tables_may_be_shorter),
    TEST(spans_lie_inside_one_another),
    TEST_ONCE(a_step_is_the_fold_of_its_events),
    TEST_ONCE(a_chat_is_the_fold_of_its_events),
    TEST_ONCE(it_does_not_matter_how_one_pulls),
    TESTS_END,
};
