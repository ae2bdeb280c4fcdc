/*
 * test_step.c - one turn: an answer, its tool calls, the results
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/turns.h"

#define CALL(id, name, args) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': " args "}]"
#define ECHO "[[" CALL("c0", "echo", "{'x': 1}") ", ['finish', 'tool_calls']]]"
#define TWO "[[" CALL("c0", "one", "{}") ", " CALL("c1", "two", "{}") \
            ", ['finish', 'tool_calls']]]"

struct bench {
    struct clock_manual clock;
    allm_engine *engine;
    allm_thread *thread;
    allm_stream *stream;
};

static struct bench begin(const char *scripts, const char *tools,
                          const allm_call_opts *opts)
{
    struct bench b = { .clock = { 0, 0 } };
    /* the clock must stay: streams of these tests wait only through later: */
    static struct clock_manual clock;
    clock = b.clock;
    b.engine = turns_engine(scripts, tools, &clock);
    b.thread = turns_thread();
    b.stream = allm_step(b.engine, b.thread, opts);
    return b;
}

static void end(struct bench *b)
{
    bool began = b->stream && allm_stream_request_id(b->stream) &&
                 !(allm_stream_error(b->stream) &&
                   !allm_stream_response(b->stream));
    allm_stream_free(b->stream);
    allm_thread_free(b->thread);
    if (began && check_whole())
        CHECK_INT(allm_fake_released(b->engine), allm_fake_calls(b->engine));
    allm_engine_free(b->engine);
}

/* ----------------------------------------------------------------- step --- */

struct row {
    const char *why, *scripts, *tools, *opts;
    int done;
    size_t results;
    const char *messages, *metadata;
    int runs;
};

static const struct row rows[] = {
    { "S-01, S-02 a text is done", "[[['text', 'Hello'], ['finish', 'stop']]]",
      "echo=echo", NULL, 1, 0, "u:hi a:Hello", "{}", 0 },
    { "S-03, S-04 a tool runs, its answer is appended", ECHO, "echo=echo",
      NULL, 0, 1, "u:hi a:(c0) t:c0={\"x\":1}", "{}", 1 },
    { "S-05 results stand in the order of the calls", TWO,
      "one=later:30:ok:0;two=ok:1", NULL, 0, 2,
      "u:hi a:(c0,c1) t:c0=0 t:c1=1", "{}", 2 },
    { "S-06 in mode manual nothing runs", ECHO, "echo=echo",
      "{'mode': 'manual'}", 0, 0, "u:hi a:(c0)", "{'mode':'manual'}", 0 },
    { "S-07 a failure halts", ECHO, "echo=fail:bad",
      "{'on_tool_error': 'halt'}", 1, 1, "u:hi a:(c0) t:c0={\"error\":\"bad\"}",
      "{'halted_reason':'tool_error','halt_tool_call_id':'c0'}", 1 },
    { "S-08 a failure is told to the model", ECHO, "echo=fail:bad", NULL, 0, 1,
      "u:hi a:(c0) t:c0={\"error\":\"bad\"}", "{}", 1 },
    { "S-09 a tool halts", ECHO, "echo=halt:budget_exceeded:{'used':100}",
      NULL, 1, 1, "u:hi a:(c0) t:c0={\"used\":100}",
      "{'halted_reason':'budget_exceeded','halt_tool_call_id':'c0',"
      "'halt_result':{'used':100}}", 1 },
    { "S-10 a tool asks", ECHO, "echo=ask:which?", NULL, 1, 1,
      "u:hi a:(c0) t:c0=<awaiting user response>",
      "{'halted_reason':'ask_user','pending_tool_call_id':'c0',"
      "'pending_question':'which?','ask_user_opts':{}}", 1 },
    { "calls of a turn that stopped do not run",
      "[[" CALL("c0", "echo", "{}") ", ['finish', 'stop']]]", "echo=echo",
      NULL, 1, 0, "u:hi a:(c0)", "{}", 0 },
    { "tool_calls without calls is not done", "[[['finish', 'tool_calls']]]",
      "echo=echo", NULL, 0, 0, "u:hi a:", "{}", 0 },
    { "D-2 no finish reason is not done", "[[['text', 'x']]]", "echo=echo",
      NULL, 0, 0, "u:hi a:x", "{}", 0 },
    { "an answer that breaks off is done, and keeps its text",
      "[[['text', 'part'], ['error', 'rate_limited']]]", "echo=echo", NULL, 1,
      0, "u:hi a:part", "{}", 0 },
    { "M-01 only auto tools", TWO, "one=ok:1;two=ok:2;pay!=ok:3", NULL, 0, 2,
      "u:hi a:(c0,c1) t:c0=1 t:c1=2", "{}", 2 },
    { "D-8 all messages are kept, the first call's halt wins", TWO,
      "one=later:20:halt:slow:1;two=halt:fast:2", NULL, 1, 2,
      "u:hi a:(c0,c1) t:c0=1 t:c1=2",
      "{'halted_reason':'slow','halt_tool_call_id':'c0',"
      "'halt_result':1}", 2 },
    { "malformed arguments never run as {}",
      "[[['tool_call', {'id': 'c0', 'name': 'echo', 'raw_arguments': '[1'}], "
      "['finish', 'tool_calls']]]", "echo=echo", "{'on_tool_error': 'halt'}",
      1, 1, NULL, NULL, 0 },
};

static void a_step_is_waited_for(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        allm_json *json = r->opts ? noun_json(r->opts) : NULL;
        struct bench b = begin(r->scripts, r->tools,
                               ALLM(call_opts, .json = json));
        check_row(r->why);
        CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
        const allm_step_result *s = allm_stream_step_result(b.stream);
        CHECK(s);
        CHECK_INT(GET(s, done), r->done);
        CHECK_INT(GET(s, tool_result_count), r->results);
        if (r->messages)
            CHECK_TEXT(turns_messages(GET(s, thread)), r->messages);
        if (r->metadata)
            CHECK_VALUE(GET(s, metadata), r->metadata);
        CHECK_INT(turns_runs(), r->runs);
        CHECK(s && s->response && s->response->request_id);
        CHECK(allm_stream_response(b.stream) == GET(s, response));
        end(&b);
        allm_json_free(json);
    }
}

static void an_answer_keeps_its_metadata(void)
{
    struct bench b = begin(ECHO, "echo=echo", NULL);
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    const allm_step_result *s = allm_stream_step_result(b.stream);
    const allm_message *m = s ? allm_thread_at(s->thread, 1) : NULL;
    CHECK_VALUE(GET(m, metadata), "{'finish_reason':'tool_calls'}");
    CHECK_INT(GET(m, tool_call_count), 1);
    CHECK_INT(allm_thread_count(b.thread), 1);  /* the caller's is untouched */
    const allm_message *t = s ? allm_thread_at(s->thread, 2) : NULL;
    CHECK_TEXT(GET(t, tool_call_id), "c0");
    CHECK(!allm_stream_chat_result(b.stream));
    end(&b);
}

/* ------------------------------------------------------------ by events --- */

static void a_step_is_pulled(void)
{
    static const struct {
        const char *why, *scripts, *tools, *opts, *events;
    } told[] = {
        { "T-01, T-03 one tool", ECHO, "echo=echo", NULL,
          "m c:c0/echo m.tool_calls +c0 c0={\"ok\":{\"x\":1}} c0>{\"x\":1} "
          "step[uat] ok" },
        { "T-02 two tools, in the order they end", TWO,
          "one=later:9:ok:0;two=ok:1", NULL,
          "m c:c0/one c:c1/two m.tool_calls +c1 c1={\"ok\":1} c1>1 "
          "+c0 c0={\"ok\":0} c0>0 step[uatt] ok" },
        { "D-9 live events", TWO, "one=later:9:ok:0;two=ok:1",
          "{'live_tool_events': true}",
          "m c:c0/one c:c1/two m.tool_calls +c0 +c1 c1={\"ok\":1} c1>1 "
          "c0={\"ok\":0} c0>0 step[uatt] ok" },
        { "one that is too late ends when its time is over", TWO,
          "one=later:50:ok:0;two=later:99:ok:1", "{'tool_timeout': 50}",
          "m c:c0/one c:c1/two m.tool_calls +c0 c0={\"ok\":0} c0>0 +c1 "
          "c1={\"error\":{\"kind\":\"tool\",\"reason\":\"timeout\","
          "\"message\":\"tool error (two): timeout: no answer within 50 ms; "
          "the function was given up\",\"tool_name\":\"two\","
          "\"tool_call_id\":\"c1\",\"cause\":\"no answer within 50 ms; the "
          "function was given up\",\"metadata\":{}}} c1>{\"error\":\"tool "
          "error (two): timeout: no answer within 50 ms; the function was "
          "given up\"} step[uatt] ok" },
        { "T-04 a halt", ECHO, "echo=halt:x:{'a':1}", NULL,
          "m c:c0/echo m.tool_calls +c0 c0={\"halt\":[\"x\",{\"a\":1}]} c0!x "
          "step[uat] ok" },
        { "T-05 a question", ECHO, "echo=ask:q?", NULL,
          "m c:c0/echo m.tool_calls +c0 "
          "c0={\"ask_user\":\"q?\",\"opts\":{}} c0?q? step[uat] ok" },
        { "T-06 manual", ECHO, "echo=echo", "{'mode': 'manual'}",
          "m c:c0/echo m.tool_calls step[ua] ok" },
        { "T-08 a text", "[[['text', 'x'], ['finish', 'stop']]]", "echo=echo",
          NULL, "m a:x t=x m.stop step[ua] ok" },
        { "T-09 an unknown tool", ECHO, "other=echo", NULL,
          "m c:c0/echo m.tool_calls e:unknown_tool step[ua] ok" },
        { "T-10 two halts", TWO, "one=halt:first:1;two=halt:first:2", NULL,
          "m c:c0/one c:c1/two m.tool_calls +c0 c0={\"halt\":[\"first\",1]} "
          "c0!first +c1 c1={\"halt\":[\"first\",2]} c1!first step[uatt] ok" },
        { "a finish behind an error is told",
          "[[['text', 'x'], ['error', 'timeout'], ['finish', 'stop']]]",
          "echo=echo", NULL, "m a:x e:timeout t=x m.stop step[ua] ok" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        allm_json *json = told[i].opts ? noun_json(told[i].opts) : NULL;
        struct bench b = begin(told[i].scripts, told[i].tools,
                               ALLM(call_opts, .json = json));
        check_row(told[i].why);
        CHECK_TEXT(turns_play(b.stream), told[i].events);
        end(&b);
        allm_json_free(json);
    }
}

/* -------------------------------------------------------- the two doors --- */

static void an_unknown_tool_is_an_error_where_one_waits(void)
{
    static const char *const scripts[] = {
        ECHO,
        "[[" CALL("c0", "missing", "{}") ", " CALL("c1", "charge", "{}")
        ", ['finish', 'tool_calls']]]",
    };
    for (int i = 0; i < 2; i++) {
        struct bench b = begin(scripts[i], "charge!=echo;other=echo", NULL);
        CHECK_INT(allm_stream_wait(b.stream), ALLM_ERR_ENGINE);
        const allm_error *e = allm_stream_error(b.stream);
        CHECK_ERROR(e, ALLM_ERR_ENGINE, "unknown_tool", NULL);
        CHECK_TEXT(allm_json_text(allm_json_get(GET(e, metadata), "tool_name"),
                                  NULL),
                   i ? "missing" : "echo");
        CHECK(!allm_stream_step_result(b.stream));
        CHECK_INT(turns_runs(), 0);
        CHECK_INT(allm_stream_wait(b.stream), ALLM_ERR_ENGINE);
        end(&b);
    }
    struct bench b = begin(ECHO, "other=echo", NULL);
    const allm_event *event;
    CHECK_INT(allm_stream_next(b.stream, &event), ALLM_EVENT);
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    const allm_step_result *s = allm_stream_step_result(b.stream);
    CHECK_INT(GET(s, done), 1);
    CHECK(s && s->response->finish_reason == ALLM_FINISH_TOOL_CALLS);
    end(&b);
}

static void a_failed_start_is_reported_at_once(void)
{
    static const struct {
        const char *why, *scripts, *opts, *error;
    } told[] = {
        { "max_turns 0", ECHO, "{'max_turns': 0}", "misuse invalid_option" },
        { "an unknown mode", ECHO, "{'mode': 'odd'}",
          "misuse invalid_option" },
        { "an unknown policy", ECHO, "{'on_tool_error': 'nonsense'}",
          "misuse invalid_option" },
        { "a failure before the stream",
          "[[['preflight_error', 'authentication_failed']]]", NULL,
          "adapter authentication_failed" },
        { "a script that is used up", "[]", NULL,
          "adapter no_scripted_response" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        allm_json *json = told[i].opts ? noun_json(told[i].opts) : NULL;
        struct bench b = begin(told[i].scripts, "echo=echo",
                               ALLM(call_opts, .json = json));
        check_row(told[i].why);
        CHECK(allm_stream_error(b.stream));
        CHECK_TEXT(turns_play(b.stream), told[i].error);
        CHECK(!allm_stream_step_result(b.stream));
        end(&b);
        allm_json_free(json);
    }
}

/* S-12, S-13, S-15 */
static void guards_come_in_their_order(void)
{
    allm_engine *none = allm_engine_new(NULL);
    allm_thread *good = turns_thread(), *bad = turns_thread(),
                *empty = allm_thread_new(NULL);
    allm_thread_append(bad, ALLM(message, .role = ALLM_ROLE_TOOL, .text = "x"));
    const struct {
        const allm_thread *thread;
        const char *error;
    } told[] = {
        { good, "engine missing_adapter" },
        { empty, "engine missing_adapter" },
        { bad, "validation invalid_thread" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        allm_stream *s = allm_step(none, told[i].thread, NULL);
        CHECK_TEXT(turns_play(s), told[i].error);
        allm_stream_free(s);
    }
    allm_engine *e = turns_engine("[]", "", NULL);
    allm_stream *s = allm_step(e, empty, NULL);
    CHECK_TEXT(turns_play(s), "validation invalid_request");
    allm_stream_free(s);
    allm_engine_free(e);
    allm_thread_free(good);
    allm_thread_free(bad);
    allm_thread_free(empty);
    allm_engine_free(none);
}

/* ------------------------------------------------------ per-tool manual --- */

/* A thread accepts any data; the call reports what is wrong. */
static void a_message_without_role_or_text_is_refused(void)
{
    allm_engine *e = turns_engine("[]", "", NULL);
    allm_thread *t = turns_thread();
    CHECK_INT(allm_thread_append(t, ALLM(message, .text = "x")), ALLM_OK);
    CHECK_INT(allm_thread_append(t, ALLM(message, .role = ALLM_ROLE_USER)),
              ALLM_OK);
    allm_stream *s = allm_step(e, t, NULL);
    const allm_error *error = allm_stream_error(s);
    CHECK_ERROR(error, ALLM_ERR_VALIDATION, "invalid_thread", NULL);
    if (error && check_whole())
        CHECK_VALUE(error->errors,
                    "[[['messages',1,'role'],'unknown'],"
                    "[['messages',2,'content'],'invalid_type']]");
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

static void manual_tools_are_left_to_the_caller(void)
{
    static const char script[] = "[[" CALL("m1", "charge", "{}") ", " CALL(
        "ca", "weather", "{}") ", " CALL("m2", "charge",
                                         "{}") ", ['finish', 'tool_calls']]]";
    struct bench b = begin(script, "weather=ok:1;charge!=ok:2", NULL);
    const allm_event *event = NULL;
    int started = 0;
    while (allm_stream_next(b.stream, &event) == ALLM_EVENT) {
        started += event->type == ALLM_EV_TOOL_EXECUTION_STARTED;
        if (event->type != ALLM_EV_STEP_COMPLETED)
            continue;
        CHECK_INT(event->mode, ALLM_MODE_AUTO);
        CHECK_INT(event->manual_tool_call_count, 2);
        CHECK_TEXT(event->manual_tool_calls[0]->id, "m1");
        CHECK_TEXT(event->manual_tool_calls[1]->id, "m2");
    }
    const allm_step_result *s = allm_stream_step_result(b.stream);
    CHECK_INT(started, check_whole() ? 1 : started);
    CHECK_INT(allm_json_count(
                  allm_json_get(GET(s, metadata), "manual_tool_calls")),
              2);
    CHECK_INT(allm_json_count(GET(s, metadata)), 1);
    CHECK_INT(GET(s, done), 0);
    CHECK_TEXT(turns_messages(GET(s, thread)), "u:hi a:(m1,ca,m2) t:ca=1");
    end(&b);

    /* D-16: a halt wins, the remaining calls are listed */
    b = begin(script, "weather=halt:enough:1;charge!=ok:2", NULL);
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    s = allm_stream_step_result(b.stream);
    CHECK_INT(GET(s, done), 1);
    CHECK(s && !allm_json_get(s->metadata, "manual_tool_calls"));
    CHECK_INT(allm_json_count(
                  allm_json_get(GET(s, metadata), "unresolved_tool_calls")),
              2);
    end(&b);
}

/* --------------------------------------------------------------- errors --- */

struct seen {
    int calls;
    const char *answer;
};

static void on_error(allm_tool_run *run, const allm_error *error, void *ud)
{
    struct seen *seen = ud;
    seen->calls++;
    CHECK_ERROR(error, ALLM_ERR_TOOL, "handler_failed", "bad");
    allm_json *v = noun_json("{'replaced': true}");
    if (!strcmp(seen->answer, "ok"))
        allm_tool_ok(run, v);
    else if (!strcmp(seen->answer, "halt"))
        allm_tool_halt(run, "x", NULL);
    else if (!strcmp(seen->answer, "raise"))
        allm_tool_raise(run, "oops");
    allm_json_free(v);
}

static void a_callback_decides_about_failures(void)
{
    static const struct {
        const char *answer, *messages, *halted;
    } told[] = {
        { "ok", "u:hi a:(c0) t:c0={\"replaced\":true}", NULL },
        { "halt", "u:hi a:(c0) t:c0={\"error\":\"bad\"}", "tool_error" },
        { "raise", NULL, "tool_error" },
        { "none", NULL, "tool_error" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct seen seen = { 0, told[i].answer };
        check_row(told[i].answer);
        struct bench b = begin(ECHO, "echo=fail:bad",
                               ALLM(call_opts, .on_tool_error_fn = on_error,
                                    .on_tool_error_ud = &seen));
        CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
        const allm_step_result *s = allm_stream_step_result(b.stream);
        CHECK_TEXT(allm_json_text(
                       allm_json_get(GET(s, metadata), "halted_reason"), NULL),
                   told[i].halted);
        CHECK(s && !s->error == !told[i].halted);   /* D-15, D-20 */
        if (told[i].messages)
            CHECK_TEXT(turns_messages(GET(s, thread)), told[i].messages);
        CHECK_INT(seen.calls, 1);
        end(&b);
    }
    struct bench b =
        begin(ECHO, "echo=echo",
              ALLM(call_opts, .on_tool_error = ALLM_TOOL_POLICY_CALLBACK));
    CHECK_TEXT(turns_play(b.stream), "misuse invalid_option");
    end(&b);
}

/* ----------------------------------------------------------------- taps --- */

static allm_status tap(const allm_event *event, void *ud)
{
    int *seen = ud;
    CHECK_ALWAYS(event->seq == 0);
    CHECK_ALWAYS(event->type != ALLM_EV_STEP_COMPLETED &&
                 event->type != ALLM_EV_TOOL_RESULT_ENCODED);
    return ++*seen == 3 ? ALLM_ERR_STREAM : ALLM_OK;
}

static void the_tap_sees_the_adapters_events(void)
{
    int seen = 10;
    struct bench b =
        begin(ECHO, "echo=echo",
              ALLM(call_opts, .on_event = tap, .on_event_ud = &seen));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    CHECK_INT(seen, 14);
    end(&b);
    seen = 0;
    b = begin(ECHO, "echo=echo",
              ALLM(call_opts, .on_event = tap, .on_event_ud = &seen));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_ERR_STREAM);
    end(&b);
}

/* T-12 and the like: stopping anywhere lets go of all. */
static void a_step_may_be_left_anywhere(void)
{
    for (int cut = 0; cut < 12; cut++) {
        struct bench b = begin(TWO, "one=later:50:ok:0;two=ok:1", NULL);
        const allm_event *event;
        for (int i = 0; i < cut; i++)
            if (allm_stream_next(b.stream, &event) != ALLM_EVENT)
                break;
        if (cut % 2) {
            allm_stream_cancel(b.stream);
            allm_status status = allm_stream_wait(b.stream);
            CHECK(status == ALLM_OK);
            CHECK(allm_stream_step_result(b.stream));
        }
        end(&b);
    }
}

static void a_step_runs_in_a_hub(void)
{
    struct bench b = begin(TWO, "one~=ok:0;two~=ok:1", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    CHECK_INT(allm_hub_add(hub, b.stream, NULL), ALLM_OK);
    const allm_event *event;
    int n = 0;
    allm_stream *s;
    while ((s = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            n++;
    CHECK_INT(n, 13);
    CHECK(allm_stream_step_result(b.stream));
    end(&b);
    allm_hub_free(hub);
}

static void tools_run_in_workers(void)
{
    struct bench b = begin(TWO, "one~=text:a;two~=context", NULL);
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    const allm_step_result *s = allm_stream_step_result(b.stream);
    CHECK_TEXT(turns_messages(GET(s, thread)), "u:hi a:(c0,c1) t:c0=a t:c1={}");
    end(&b);
}

/* --------------------------------------------------------------- tables --- */

static void shout(void *self, const allm_json *value, bool is_error,
                  allm_encoding *out)
{
    (void)value;
    (void)is_error;
    allm_encoding_text(out, self, strlen(self));
}

static void execute(void *self, const allm_tool *tool, allm_tool_run *run,
                    const allm_json *args)
{
    (void)tool;
    (void)args;
    allm_tool_text(run, self, strlen(self));
}

/* R-18, S-16: the call's, the engine's, the default. */
static void executors_and_encoders_are_found(void)
{
    char mine[] = "mine", theirs[] = "theirs", loud[] = "LOUD";
    const allm_executor of_engine = { .size = sizeof of_engine, .self = theirs,
                                      .execute = execute,
                                      .flags = ALLM_EXECUTOR_INLINE };
    const allm_executor of_call = { .size = sizeof of_call, .self = mine,
                                    .execute = execute,
                                    .flags = ALLM_EXECUTOR_INLINE };
    const allm_encoder encoder = { .size = sizeof encoder, .self = loud,
                                   .encode = shout };
    const struct {
        const char *why;
        const allm_executor *engine, *call;
        const allm_encoder *engine_encoder, *call_encoder;
        const char *content;
    } told[] = {
        { "the engine's", &of_engine, NULL, NULL, NULL, "theirs" },
        { "the call's", &of_engine, &of_call, NULL, NULL, "mine" },
        { "the engine's encoder", &of_engine, NULL, &encoder, NULL, "LOUD" },
        { "the call's encoder", NULL, &of_call, NULL, &encoder, "LOUD" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        allm_json *opts = noun_json("{'scripts': " ECHO "}");
        const allm_tool *tool = ALLM(tool, .name = "echo", .description = "",
                                     .schema_text = "{}");
        check_row(told[i].why);
        allm_engine *e = allm_engine_new(
            ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts,
                 .tool_count = 1, .tools = &tool, .executor = told[i].engine,
                 .encoder = told[i].engine_encoder));
        allm_thread *t = turns_thread();
        allm_stream *s = allm_step(e, t,
                                   ALLM(call_opts, .executor = told[i].call,
                                        .encoder = told[i].call_encoder));
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        const allm_step_result *r = allm_stream_step_result(s);
        CHECK_TEXT(r && r->tool_result_count ? r->tool_results[0]->text : NULL,
                   told[i].content);
        allm_stream_free(s);
        allm_thread_free(t);
        allm_engine_free(e);
        allm_json_free(opts);
    }
}

static void a_table_without_a_function_is_misuse(void)
{
    const allm_executor x = { .size = sizeof x };
    struct bench b = begin(ECHO, "echo=echo", ALLM(call_opts, .executor = &x));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_ERR_MISUSE);
    CHECK_MISUSE(allm_stream_error(b.stream), "invalid_option", "executor");
    end(&b);
}

/* Tools that an executor offers are shown to the model. */
static const allm_tool *const *offer(void *self, size_t *count)
{
    static const allm_tool tool = { .size = sizeof tool, .name = "echo",
                                    .description = "offered" };
    static const allm_tool *const list = &tool;
    (void)self;
    *count = 1;
    return &list;
}

static void offered_tools_are_ours(void)
{
    char text[] = "yes";
    const allm_executor x = { .size = sizeof x, .self = text,
                              .execute = execute, .tools = offer,
                              .flags = ALLM_EXECUTOR_INLINE };
    struct bench b = begin(ECHO, "", ALLM(call_opts, .executor = &x));
    CHECK_TEXT(turns_play(b.stream),
               "validation invalid_request");   /* it has no schema */
    end(&b);
}

TESTS = {
    TEST(a_step_is_waited_for),
    TEST(an_answer_keeps_its_metadata),
    TEST(a_step_is_pulled),
    TEST(an_unknown_tool_is_an_error_where_one_waits),
    TEST(a_failed_start_is_reported_at_once),
    TEST(guards_come_in_their_order),
    TEST(a_message_without_role_or_text_is_refused),
    TEST(manual_tools_are_left_to_the_caller),
    TEST(a_callback_decides_about_failures),
    TEST(the_tap_sees_the_adapters_events),
    TEST(a_step_may_be_left_anywhere),
    TEST(executors_and_encoders_are_found),
    TEST(a_table_without_a_function_is_misuse),
    TEST(offered_tools_are_ours),
    TEST_ONCE(a_step_runs_in_a_hub),
    TEST_ONCE(tools_run_in_workers),
    TESTS_END,
};
