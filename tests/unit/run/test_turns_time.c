/*
 * test_turns_time.c - total_ms bounds the whole call: turns, tools, requests
 *
 * What can be said with the scripted model is in tests/scenario/total-*.json.
 * Here are deferred tools, and a real server that is slow in the second turn.
 * The clock of those tests is the real one, moved on by hand, so that they do
 * not wait for what they measure.
 *
 * tag: clock
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/server.h"
#include "harness/turns.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                            \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"            \
    "Transfer-Encoding: chunked\r\n\r\n"
#define CALL                                                            \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"     \
    "\"index\":0,\"id\":\"c0\",\"function\":{\"name\":\"t\","           \
    "\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n" \
    "data: [DONE]\n\n"

static const struct server_step asks_for_a_tool[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               "Connection: close\r\n\r\n" CALL),
    SERVER_CLOSE,
};
static const struct server_step never_answers[] = { SERVER_PAUSE, SERVER_END };
static const struct server_step never_goes_on[] = { SERVER_SAY(HEAD),
                                                    SERVER_PAUSE, SERVER_END };

/* ---------------------------------------------------------------- clock --- */

static struct clock real;
static int64_t skew_ns;

static int64_t skewed_ns(void *ud)
{
    (void)ud;
    return clock_now_ns(real) + skew_ns;
}

static int64_t skewed_ms(void *ud)
{
    (void)ud;
    return clock_unix_ms(real);
}

enum { TOTAL_MS = 20000, LEFT_MS = 100 };

/* A tool that takes nearly all of the time. */
static void take_long(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    skew_ns += (int64_t)(TOTAL_MS - LEFT_MS) * 1000000;
    allm_tool_text(run, "x", 1);
}

static allm_tool_run *kept;

static void defer(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    kept = allm_tool_defer(run);
}

/* --------------------------------------------------------- real servers --- */

static allm_engine *engine_for(struct server *s, allm_tool_fn fn)
{
    char opts[128];
    real = clock_real();
    snprintf(opts, sizeof opts, "{\"base_url\": \"http://127.0.0.1:%d/v1\"}",
             server_port(s));
    allm_json *json = allm_json_parse(opts, ALLM_NUL_ENDED, NULL);
    const allm_clock clock = { .size = sizeof clock, .now_ns = skewed_ns,
                               .unix_ms = skewed_ms };
    const allm_tool *tool = ALLM(tool, .name = "t", .description = "",
                                 .schema_text = "{}", .call = fn,
                                 .flags = ALLM_TOOL_INLINE);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "openai:m",
                                          .adapter_opts = json, .clock = &clock,
                                          .tool_count = 1, .tools = &tool,
                                          .net = ALLM(net_opts, .proxy = "")));
    allm_json_free(json);
    return e;
}

/* The chat ends by a timeout, long before total_ms from the second turn on. */
static void check_bounded(const struct server_step *second, allm_tool_fn fn,
                          uint32_t total_ms, size_t requests)
{
    struct server *server = server_new();
    if (!server)
        return;
    server_play(server, asks_for_a_tool);
    server_play(server, second);
    allm_engine *e = engine_for(server, fn);
    allm_thread *t = turns_thread();
    int64_t began = clock_now_ns(real);
    allm_stream *s =
        allm_chat(e, t, ALLM(call_opts, .api_key = "k", .total_ms = total_ms));
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK(clock_now_ns(real) - began < (int64_t)TOTAL_MS / 2 * 1000000);
    const allm_chat_result *r = allm_stream_chat_result(s);
    CHECK_TEXT(GET(r, halted_reason), "error");
    CHECK_ERROR(GET(r, error), ALLM_ERR_ADAPTER, "timeout", "total_ms");
    CHECK(GET(r, step_count) >= 1);
    CHECK_INT(server_look_for(server, requests).requests, requests);
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
    server_free(server);
}

static void a_slow_second_turn_has_only_the_rest_of_the_time(void)
{
    check_bounded(never_answers, take_long, TOTAL_MS, 2);
    check_bounded(never_goes_on, take_long, TOTAL_MS, 2);
}

static void a_deferred_tool_does_not_outlive_the_call(void)
{
    check_bounded(never_answers, defer, LEFT_MS, 1);
    CHECK(kept && allm_tool_cancelled(kept));
    CHECK_INT(allm_tool_text(kept, "late", 4), ALLM_OK);
    allm_tool_run_free(kept);
    kept = NULL;
}

/* ----------------------------------------------------------- the others --- */

static void deferred_tools_of_a_hub_are_cut(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = turns_engine(
        "[[['tool_call', {'id': 'c0', 'name': 't', 'arguments': {}}], "
        "['finish', 'tool_calls']]]",
        "", &clock);
    const allm_tool *tool = ALLM(tool, .name = "t", .description = "",
                                 .schema_text = "{}", .call = defer,
                                 .flags = ALLM_TOOL_INLINE);
    allm_thread *t = turns_thread();
    kept = NULL;
    allm_stream *s = e && t ? allm_chat(e, t,
                                        ALLM(call_opts, .total_ms = 50,
                                             .tool_timeout_ms = UINT32_MAX,
                                             .tool_count = 1, .tools = &tool))
                            : NULL;
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_chat_result *r = allm_stream_chat_result(s);
    CHECK_TEXT(GET(r, halted_reason), "error");
    CHECK_INT(clock.now_ns, 50 * (int64_t)1000000);
    allm_stream_free(s);
    allm_tool_run_free(kept);
    allm_thread_free(t);
    allm_engine_free(e);
}

TESTS = {
    TEST_ONCE(a_slow_second_turn_has_only_the_rest_of_the_time),
    TEST_ONCE(a_deferred_tool_does_not_outlive_the_call),
    TEST(deferred_tools_of_a_hub_are_cut),
    TESTS_END,
};
