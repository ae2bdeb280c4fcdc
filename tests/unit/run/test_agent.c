/* test_agent.c - agents: what ends them, and their results */
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
#define FINISH ", ['finish', 'tool_calls']], "
#define READ_ON \
    CALL("c1", "tool_output", "{'tool_call_id': 'c0', 'offset': 118}")
#define READ_TWICE \
    "[" TURN("c0", "t") ", [" READ_ON ", " \
    CALL("c2", "tool_output", "{'tool_call_id': 'none'}") FINISH SAY("x") "]"
#define SIX_TURNS \
    "[" TURN("c0", "t") ", " TURN("c1", "t") \
    ", [" CALL("c2", "t", "{}") FINISH TURN("c3", "t") ", " \
    TURN("c4", "t") ", " TURN("c5", "t") ", " SAY("x") "]"
#define BLANK "[['finish', 'stop']]"

struct seen {
    int count;
    char traces[2048];
};

static void on_iteration(const allm_context *c, void *ud)
{
    struct seen *seen = ud;
    allm_text *t = allm_json_write(allm_context_trace(c), 0);
    const char *bytes = allm_text_bytes(t, NULL);
    size_t n = strlen(seen->traces);
    snprintf(seen->traces + n, sizeof seen->traces - n, "%s",
             bytes ? bytes : "?");
    allm_text_free(t);
    if (seen->count >= 0)
        CHECK_INT(allm_context_iteration(c), seen->count);
    seen->count++;
}

struct bench {
    struct clock_manual clock;
    allm_engine *engine;
    allm_thread *thread;
    allm_stream *stream;
    struct seen seen;
};

static void begin(struct bench *b, const char *scripts, const char *tools,
                  const allm_agent_opts *opts)
{
    allm_agent_opts mine = { .size = sizeof mine };
    if (opts)
        mine = *opts;
    *b = (struct bench){ .clock = { 0, 0 } };
    if (!mine.on_iteration) {
        mine.on_iteration = on_iteration;
        mine.on_iteration_ud = &b->seen;
    }
    b->engine = turns_engine(scripts, tools, &b->clock);
    b->thread = turns_thread();
    b->stream = allm_agent(b->engine, b->thread, &mine);
}

static const allm_agent_result *wait_for(struct bench *b)
{
    CHECK_INT(allm_stream_wait(b->stream), ALLM_OK);
    const allm_agent_result *r = allm_stream_agent_result(b->stream);
    CHECK(r);
    return r;
}

static void end(struct bench *b)
{
    allm_stream_free(b->stream);
    allm_thread_free(b->thread);
    allm_engine_free(b->engine);
}

/* ---------------------------------------------------------- how it ends --- */

struct row {
    const char *why, *scripts, *tools;
    allm_agent_opts opts;
    const char *reason, *messages;
    int iterations, calls, runs, seen;
    const char *traces;
};

#define OK_TRACE "[\"parse_tool_calls\",\"validate_calls\",\"budget_ok\"," \
                 "[\"dispatch\",1],\"inject_results\",\"loop_continue\"]"
#define NO_TRACE "[\"parse_tool_calls\",\"validate_calls\"," \
                 "\"budget_exceeded_iterations\"]"

static const struct row rows[] = {
    { "E1 a tool, then a text", "[" TURN("c1", "calc") ", " SAY("42!") "]",
      "calc=text:42", { .max_iterations = 10 }, "completed",
      "u:hi a:(c1) t:c1=42", 2, 1, 1, 2, OK_TRACE "[\"parse_no_tools\"]" },
    { "C1 one turn only", "[" TURN("c1", "calc") "]", "calc=text:42",
      { .max_iterations = 1 }, "budget_exceeded", "u:hi", 1, 0, 0, 1,
      NO_TRACE },
    { "C2 three turns", "[" TURN("c1", "calc") ", " TURN("c1", "calc") ", "
      TURN("c1", "calc") "]", "calc=text:42", { .max_iterations = 3 },
      "budget_exceeded", "u:hi a:(c1) t:c1=42 a:(c1) t:c1=42", 3, 2, 2, 3,
      OK_TRACE OK_TRACE NO_TRACE },
    { "C3 an unknown tool", "[" TURN("c1", "odd") ", " SAY("x") "]",
      "b=echo;a=echo", { 0 }, "completed",
      "u:hi a:(c1) t:c1=Error: unknown tool 'odd'. Available: a, b", 2, 0, 0,
      2, "[\"parse_tool_calls\",\"validate_calls\",\"budget_ok\","
      "[\"dispatch\",0],\"inject_results\",\"loop_continue\"]"
      "[\"parse_no_tools\"]" },
    { "C4 results stand in the order of calls",
      "[[" CALL("u1", "odd", "{}") ", " CALL("v", "calc", "{}") ", "
      CALL("u2", "odd", "{}") ", ['finish', 'tool_calls']], " SAY("x") "]",
      "calc=text:42", { 0 }, "completed",
      "u:hi a:(u1,v,u2) t:u1=Error: unknown tool 'odd'. Available: calc "
      "t:v=42 t:u2=Error: unknown tool 'odd'. Available: calc", 2, 1, 1, 2,
      NULL },
    { "C5 the same error three times", "[" TURN("c1", "calc") ", "
      TURN("c1", "calc") ", " TURN("c1", "calc") ", " SAY("x") "]",
      "calc=fail:x", { 0 }, "circuit_breaker",
      "u:hi a:(c1) t:c1=Error: x a:(c1) t:c1=Error: x", 3, 2, 3, 3, NULL },
    { "the breaker may be off", "[" TURN("c1", "calc") ", " TURN("c1", "calc")
      ", " TURN("c1", "calc") ", " SAY("x") "]", "calc=fail:x",
      { .flags = ALLM_AGENT_NO_BREAKER }, "completed", NULL, 4, 3, 3, 4, NULL },
    { "it may be earlier", "[" TURN("c1", "calc") ", " TURN("c1", "calc")
      ", " SAY("x") "]", "calc=fail:x", { .max_repeats = 2 },
      "circuit_breaker", NULL, 2, 1, 2, 2, NULL },
    { "C6 the model fails at once", "[[['preflight_error', 'timeout']]]",
      "calc=text:1", { 0 }, "llm_error", "u:hi", 1, 0, 0, 0, "" },
    { "C6 the model fails later", "[" TURN("c1", "calc")
      ", [['preflight_error', 'timeout']]]", "calc=text:1", { 0 },
      "llm_error", "u:hi a:(c1) t:c1=1", 2, 1, 1, 1, OK_TRACE },
    { "C6 an answer breaks off", "[" TURN("c1", "calc")
      ", [['text', 'a'], ['error', 'timeout']]]", "calc=text:1", { 0 },
      "llm_error", "u:hi a:(c1) t:c1=1", 2, 1, 1, 1, OK_TRACE },
    { "calls count, whatever the finish reason",
      "[[" CALL("c1", "calc", "{}") ", ['finish', 'stop']], " SAY("x") "]",
      "calc=text:1", { 0 }, "completed", "u:hi a:(c1) t:c1=1", 2, 1, 1, 2,
      NULL },
    { "2 the terminal tool ends it", "[[" CALL("c1", "calc", "{}") ", "
      CALL("c2", "final", "{'a': 1}") ", ['finish', 'tool_calls']]]",
      "calc=text:1;final=text:2", { .terminal_tool = "final" }, "completed",
      "u:hi", 1, 0, 0, 1, "[[\"parse_terminal_tool\",\"final\"]]" },
    { "also in the last turn", "[" TURN("c2", "final") "]", "final=text:2",
      { .terminal_tool = "final", .max_iterations = 1 }, "completed", "u:hi",
      1, 0, 0, 1, NULL },
    { "1 without the option it is a tool", "[" TURN("c2", "final") ", "
      SAY("x") "]", "final=text:2", { 0 }, "completed",
      "u:hi a:(c2) t:c2=2", 2, 1, 1, 2, NULL },
    { "4 a blank answer", "[" BLANK ", " SAY("x") "]", "calc=text:1", { 0 },
      "completed", "u:hi", 1, 0, 0, -1, NULL },
    { "5 three blank answers", "[" BLANK ", " BLANK ", " BLANK "]",
      "calc=text:1", { 0 }, "empty_stop", "u:hi", 1, 0, 0, -1, NULL },
    { "6 one is enough", "[" BLANK ", " BLANK "]", "calc=text:1",
      { .max_blank_stops = 1 }, "empty_stop", "u:hi", 1, 0, 0, 1,
      "[\"parse_blank_stop\"]" },
    { "8 a nudge", "[" BLANK ", " SAY("x") "]", "calc=text:1",
      { .blank_stop_nudge = "Well?" }, "completed", "u:hi u:Well?", 1, 0, 0,
      -1, NULL },
    { "a tool halts", "[" TURN("c1", "calc") ", " SAY("x") "]",
      "calc=halt:enough:1", { 0 }, "enough", "u:hi a:(c1) t:c1=1", 1, 0, 1, 1,
      NULL },
    { "a tool raises", "[" TURN("c1", "calc") ", " SAY("x") "]",
      "calc=raise:boom", { 0 }, "completed", NULL, 2, 1, 1, 2, NULL },
};

static void an_agent_ends_for_one_reason(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        struct bench b;
        allm_agent_opts opts = r->opts;
        opts.size = sizeof opts;
        check_row(r->why);
        begin(&b, r->scripts, r->tools, &opts);
        if (r->seen < 0)
            b.seen.count = -1000;       /* iterations repeat: not counted */
        const allm_agent_result *a = wait_for(&b);
        CHECK_TEXT(GET(a, reason), r->reason);
        CHECK_INT(GET(a, iterations), r->iterations);
        CHECK_INT(GET(a, tool_calls), r->calls);
        CHECK_INT(turns_runs(), r->runs);
        if (r->messages)
            CHECK_TEXT(turns_messages(GET(a, messages)), r->messages);
        if (r->seen >= 0)
            CHECK_INT(b.seen.count, r->seen);
        if (r->traces)
            CHECK_TEXT(b.seen.traces, r->traces);
        bool failed = strcmp(r->reason, "completed") != 0 &&
                      strcmp(r->reason, "enough") != 0;
        CHECK(a && !a->error == !failed);
        const allm_chat_result *c = allm_stream_chat_result(b.stream);
        CHECK_TEXT(GET(c, halted_reason), failed ? "error" : r->reason);
        end(&b);
    }
}

static void answers_carry_what_the_loop_did(void)
{
    struct bench b;
    begin(&b, "[" TURN("c2", "final") "]", "final=text:2",
          ALLM(agent_opts, .terminal_tool = "final"));
    const allm_agent_result *a = wait_for(&b);
    const allm_json *m = a && a->response ? a->response->metadata : NULL;
    CHECK_TEXT(allm_json_text(allm_json_get(m, "terminal_tool"), NULL),
               "final");
    CHECK_VALUE(allm_json_get(m, "terminal_args"), "{'x':1}");
    CHECK(allm_json_get(m, "terminal_tool_call"));
    end(&b);

    begin(&b, "[" BLANK ", " SAY("x") "]", "", ALLM(agent_opts, .flags = 0));
    b.seen.count = -1000;
    a = wait_for(&b);
    m = a && a->response ? a->response->metadata : NULL;
    CHECK_VALUE(allm_json_get(m, "blank_stop_retries"), "1");
    end(&b);

    begin(&b, "[" TURN("c0", "t") ", " BLANK ", " BLANK ", " BLANK "]",
          "t=text:1", NULL);
    b.seen.count = -1000;
    a = wait_for(&b);
    const allm_error *e = GET(a, error);
    CHECK_ERROR(e, ALLM_ERR_ENGINE, "empty_stop", "blank");
    CHECK_VALUE(GET(e, metadata),
                "{'iteration':1,'attempts':3,'finish_reasons':['stop','stop',"
                "'stop'],'provider':'fake','model':'fake:m'}");
    end(&b);
}

static void usage_is_of_all_calls(void)
{
    struct bench b;
    begin(
        &b,
        "[[" CALL("c0", "t",
                  "{}") ", ['usage', {'input_tokens': 3, 'output_tokens': 1}], "
                        "['finish', 'tool_calls']], [['text', 'x'], "
                        "['usage', {'input_tokens': 5}], ['finish', 'stop']]]",
        "t=text:1", NULL);
    const allm_agent_result *a = wait_for(&b);
    const allm_usage *u = GET(a, usage);
    CHECK_INT(u ? u->input_tokens.value : 0, 8);
    CHECK_INT(u ? u->output_tokens.value : 0, 1);
    CHECK_TEXT(a && a->response ? a->response->output_text : NULL, "x");
    CHECK_VALUE(GET(a, trace), "['parse_no_tools']");
    end(&b);
}

/* --------------------------------------------------------------- traces --- */

/* The events of the agent itself, with their metadata as text. */
static void on_trace(const allm_trace_event *e, void *ud)
{
    char *told = ud;
    if (strcmp(e->span, "agent") != 0)
        return;
    allm_text *text = allm_json_write(e->metadata, 0);
    const char *bytes = allm_text_bytes(text, NULL);
    size_t n = strlen(told);
    snprintf(told + n, 512 - n, "%s%s ", e->what, bytes ? bytes : "?");
    allm_text_free(text);
}

static void check_reported(const char *scripts, const allm_agent_opts *opts,
                           const char *want)
{
    char told[512] = "";
    allm_json *script = noun_json(scripts);
    allm_engine *bare = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = script,
             .trace = on_trace, .trace_ud = told));
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "t", .description = "", .schema_text = "{}"));
    allm_engine *e = allm_engine_put_tool(bare, tool);
    allm_thread *thread = turns_thread();
    allm_stream *s = allm_agent(e, thread, opts);
    allm_stream_wait(s);
    CHECK_TEXT(told, want);
    allm_stream_free(s);
    allm_thread_free(thread);
    allm_engine_free(e);
    allm_engine_free(bare);
    allm_tool_free(tool);
    allm_json_free(script);
}

static void iterations_and_the_end_are_traced(void)
{
    check_reported("{'scripts': [" TURN("c0", "t") ", " SAY("x") "]}", NULL,
                   "loop_iteration{\"iteration\":0,\"tool_calls_count\":1} "
                   "complete{\"total_iterations\":2,\"tool_calls_count\":1} ");
    check_reported("{'scripts': [" TURN("c0", "t") "]}",
                   ALLM(agent_opts, .max_iterations = 1),
                   "complete{\"total_iterations\":1,\"tool_calls_count\":0} ");
    check_reported("{'scripts': [[['error', 'rate_limited']]]}", NULL, "");
}

/* ------------------------------------------------------------ arguments --- */

#define THREE_CALLS \
    "[[" CALL("c0", "find", "{}") ", " CALL("c1", "find", "{'q': 'a'}") ", " \
    "['tool_call', {'id': 'c2', 'name': 'find', 'raw_arguments': '[1'}], " \
    "['finish', 'tool_calls']], " SAY("x") "]"

static void wrong_arguments_are_reported_to_the_model(void)
{
    struct bench b = { .clock = { 0, 0 } };
    b.engine = turns_engine(THREE_CALLS, "", &b.clock);
    allm_tool *find = allm_tool_new(
        ALLM(tool, .name = "find", .description = "",
             .schema_text = "{\"type\": \"object\", \"required\": [\"q\"]}"));
    allm_engine *e = allm_engine_put_tool(b.engine, find);
    b.thread = turns_thread();
    b.stream = allm_agent(e, b.thread,
                          ALLM(agent_opts, .on_iteration = on_iteration,
                               .on_iteration_ud = &b.seen));
    const allm_event *event;
    char told[1024] = "";
    while (allm_stream_next(b.stream, &event) == ALLM_EVENT) {
        size_t n = strlen(told);
        if (event->type == ALLM_EV_TOOL_RESULT_ENCODED)
            snprintf(told + n, sizeof told - n, "%s:%.40s|", event->id,
                     event->text);
    }
    CHECK_TEXT(told, "c0:Error: invalid arguments for 'find': mis|"
                     "c2:Error: invalid arguments for 'find': the|"
                     "c1:Error: this tool has no function|");
    allm_stream_free(b.stream);
    allm_thread_free(b.thread);
    allm_tool_free(find);
    allm_engine_free(e);
    allm_engine_free(b.engine);
}

/* -------------------------------------------------------------- options --- */

static void answer_fine(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, "fine", ALLM_NUL_ENDED);
}

/* Two tools of 50 ms, and a call without what its tool requires. */
static void habits_may_be_changed(void)
{
    static const struct {
        uint32_t flags;
        int64_t ms;
        const char *results;
    } told[] = {
        { 0, 100, "u:hi a:(c0,c1) t:c0=1 t:c1=2" },
        { ALLM_AGENT_PARALLEL, 50, "u:hi a:(c0,c1) t:c0=1 t:c1=2" },
    };
    for (size_t i = 0; i < 2; i++) {
        struct bench b;
        begin(&b,
              "[[" CALL("c0", "a", "{}") ", " CALL(
                  "c1", "b", "{}") ", "
                                   "['finish', 'tool_calls']], " SAY("x") "]",
              "a=later:50:text:1;b=later:50:text:2",
              ALLM(agent_opts, .flags = told[i].flags));
        const allm_agent_result *a = wait_for(&b);
        CHECK_TEXT(turns_messages(GET(a, messages)), told[i].results);
        CHECK_INT(b.clock.now_ns / 1000000, told[i].ms);
        end(&b);
    }
    for (int any = 0; any < 2; any++) {
        struct bench b = { .clock = { 0, 0 } };
        allm_engine *bare = turns_engine("[" TURN("c0", "t") ", " SAY("x") "]",
                                         "", &b.clock);
        allm_tool *tool =
            allm_tool_new(ALLM(tool, .name = "t", .description = "",
                               .schema_text = "{\"required\": [\"q\"]}",
                               .call = answer_fine, .flags = ALLM_TOOL_INLINE));
        b.engine = allm_engine_put_tool(bare, tool);
        b.thread = turns_thread();
        b.stream = allm_agent(
            b.engine, b.thread,
            ALLM(agent_opts, .flags = any ? ALLM_AGENT_ANY_ARGUMENTS : 0));
        CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
        const allm_agent_result *a = allm_stream_agent_result(b.stream);
        CHECK_TEXT(turns_messages(GET(a, messages)),
                   any ? "u:hi a:(c0) t:c0=fine"
                       : "u:hi a:(c0) t:c0=Error: invalid arguments for 't': "
                         "missing required field: q");
        end(&b);
        allm_tool_free(tool);
        allm_engine_free(bare);
    }
}

static void options_are_checked(void)
{
    static const struct {
        const char *json;
        uint32_t max;
        const char *told;
    } told[] = {
        { "{'max_iterations': 0}", 0, "misuse invalid_option" },
        { "{'max_iterations': 2}", 2, "misuse invalid_option" },
        { "{'max_blank_stops': 'x'}", 0, "misuse invalid_option" },
        { "{'terminal_tool': 1}", 0, "misuse invalid_option" },
        { "{'max_iterations': 1}", 0,
          "m c:c0/t m.tool_calls e:budget_exceeded step[u] chat[error] ok" },
        { "{'terminal_tool': 't'}", 0,
          "m c:c0/t m.tool_calls step[u] chat[completed] ok" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct bench b;
        allm_json *json = noun_json(told[i].json);
        check_row(told[i].json);
        begin(&b, "[" TURN("c0", "t") "]", "t=text:1",
              ALLM(agent_opts, .max_iterations = told[i].max,
                   .call = ALLM(call_opts, .json = json)));
        CHECK_TEXT(turns_play(b.stream), told[i].told);
        end(&b);
        allm_json_free(json);
    }
    allm_agent_opts odd = { .size = 0 };
    allm_engine *e = turns_engine("[]", "", NULL);
    allm_thread *t = turns_thread();
    allm_stream *s = allm_agent(e, t, &odd);
    CHECK_TEXT(turns_play(s), "misuse struct_size");
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

/* ------------------------------------------------------------ pipelines --- */

static allm_status breaks(allm_context *c, void *ud)
{
    (void)c;
    (void)ud;
    return ALLM_ERR_TOOL;
}

static allm_status idles(allm_context *c, void *ud)
{
    ++*(int *)ud;
    return allm_context_note(c, "idle", NULL);
}

/* Announces that it waits, then waits for 50 ms of the clock. */
static allm_status dawdles(allm_context *c, void *ud)
{
    int64_t *until = allm_context_state(c, sizeof *until);
    ++*(int *)ud;
    if (!until)
        return ALLM_ERR_NOMEM;
    if (!*until) {
        *until = allm_context_now(c) + 50 * 1000000;
        return allm_context_emit(c, ALLM(event, .type = ALLM_EV_RAW_CHUNK));
    }
    if (allm_context_now(c) >= *until)
        return ALLM_OK;
    allm_context_wait_until(c, *until);
    return ALLM_AGAIN;
}

static void play_with(const char *why, allm_pipeline *p, const char *scripts,
                      uint32_t max, const char *reason, int runs)
{
    struct bench b;
    check_row(why);
    begin(&b, scripts, "t=text:1",
          ALLM(agent_opts, .max_iterations = max,
               .call = ALLM(call_opts, .pipeline = p)));
    allm_pipeline_free(p);      /* it is kept */
    const allm_agent_result *a = wait_for(&b);
    CHECK_TEXT(GET(a, reason), reason);
    CHECK_INT(turns_runs(), runs);
    end(&b);
}

static allm_pipeline *without(const char *name)
{
    allm_pipeline *p = allm_pipeline_new();
    allm_pipeline *q = allm_pipeline_remove(p, name);
    allm_pipeline_free(p);
    return q;
}

/* "c0- c1 ": the results of a turn, - for a call that did not run. */
static void list_results(const allm_context *c, void *ud)
{
    char *out = ud;
    size_t count = 0;
    const allm_call_result *const *r = allm_context_tool_results(c, &count);
    for (size_t i = 0; i < count; i++) {
        strcat(out, r[i]->call->id);
        strcat(out, r[i]->rejected ? "- " : " ");
    }
}

static void the_context_tells_which_calls_ran(void)
{
    struct bench b;
    char out[64] = "";
    begin(&b,
          "[[" CALL("c0", "odd", "{}") ", " CALL(
              "c1", "calc", "{}") ", "
                                  "['finish', 'tool_calls']], " SAY("x") "]",
          "calc=text:1",
          ALLM(agent_opts, .on_iteration = list_results,
               .on_iteration_ud = out));
    wait_for(&b);
    if (check_whole())
        CHECK_TEXT(out, "c0- c1 ");
    end(&b);
}

static allm_status count_and_fail(allm_context *c, void *ud)
{
    ++*(int *)ud;
    return allm_context_fail(c, ALLM(error, .kind = ALLM_ERR_TOOL,
                                     .reason = "denied"));
}

/* Stages that want to see errors do, once, in a step as in a loop. */
static void a_stage_may_see_errors(void)
{
    int first = 0, second = 0, third = 0;
    allm_pipeline *p = allm_pipeline_new();
    allm_pipeline *q =
        allm_pipeline_insert(p, "dispatch",
                             ALLM(stage, .name = "no", .run = count_and_fail,
                                  .flags = ALLM_STAGE_ON_ERROR, .ud = &first));
    allm_pipeline *r =
        allm_pipeline_insert(q, NULL,
                             ALLM(stage, .name = "after", .run = count_and_fail,
                                  .flags = ALLM_STAGE_ON_ERROR, .ud = &second));
    allm_pipeline *s = allm_pipeline_insert(
        r, NULL,
        ALLM(stage, .name = "blind", .run = count_and_fail, .ud = &third));
    struct bench b;
    begin(&b, "[" TURN("c0", "calc") "]", "calc=text:1",
          ALLM(agent_opts, .call = ALLM(call_opts, .pipeline = s)));
    const allm_agent_result *a = wait_for(&b);
    CHECK_TEXT(GET(GET(a, error), reason), "denied");
    CHECK_INT(first, s != NULL);
    CHECK_INT(second, s != NULL);
    CHECK_INT(third, 0);
    end(&b);
    allm_pipeline_free(s);
    allm_pipeline_free(r);
    allm_pipeline_free(q);
    allm_pipeline_free(p);
}

/* Every round that ran is in the count, the messages and the usage. */
static void a_loop_out_of_iterations_keeps_its_last_round(void)
{
    allm_pipeline *p = without("budget");
    struct bench b;
    begin(&b, "[" TURN("c0", "t") ", " TURN("c1", "t") ", " TURN("c2", "t") "]",
          "t=text:1",
          ALLM(agent_opts, .max_iterations = 3,
               .call = ALLM(call_opts, .pipeline = p)));
    const allm_agent_result *a = wait_for(&b);
    CHECK_TEXT(GET(a, reason), "max_iterations_reached");
    CHECK_INT(GET(a, iterations), 3);
    CHECK_INT(GET(a, tool_calls), 3);
    CHECK_TEXT(turns_messages(GET(a, messages)),
               "u:hi a:(c0) t:c0=1 a:(c1) t:c1=1 a:(c2) t:c2=1");
    CHECK_INT(GET(allm_stream_chat_result(b.stream), step_count), 3);
    end(&b);
    allm_pipeline_free(p);
}

static void stages_may_be_exchanged(void)
{
    static const char turns[] =
        "[" TURN("c0", "t") ", " TURN("c1", "t") ", " SAY("x") "]";
    int calls = 0;
    play_with("C8 without budget", without("budget"), turns, 2,
              "max_iterations_reached", 2);
    play_with("C9 without inject", without("inject"), turns, 5, "completed", 1);
    play_with("without decide", without("decide"), turns, 5,
              "unexpected_pipeline_result", 1);
    allm_pipeline *p = allm_pipeline_new(), *q;
    q = allm_pipeline_replace(p, "validate",
                              ALLM(stage, .name = "mine", .run = breaks));
    play_with("C10 a stage fails", q, turns, 5, "pipeline_error", 0);
    q = allm_pipeline_insert(
        p, "dispatch", ALLM(stage, .name = "idle", .run = idles, .ud = &calls));
    play_with("a stage more", q, turns, 5, "completed", 2);
    CHECK_INT(calls, 2);
    q = allm_pipeline_insert(p, NULL,
                             ALLM(stage, .name = "idle", .run = idles,
                                  .ud = &calls,
                                  .flags = ALLM_STAGE_ON_DECIDED));
    play_with("a stage for what is decided", q, turns, 5, "completed", 2);
    CHECK_INT(calls, 5);
    calls = 0;
    q = allm_pipeline_insert(p, "inject",
                             ALLM(stage, .name = "dawdle", .run = dawdles,
                                  .ud = &calls));
    play_with("a stage that waits", q, turns, 5, "completed", 2);
    CHECK_INT(calls, 6);
    allm_pipeline_free(p);
}

/* ------------------------------------------------------------- policies --- */

struct nosy {
    int before, after, closed;
    allm_decision decision;
    uint32_t at;
    allm_status status;
    bool nameless;
};

static allm_status look_before(void *state, const allm_loop_view *view,
                               allm_verdict *v, void *ud)
{
    struct nosy *n = ud;
    (void)state;
    (void)view;
    (void)v;
    n->before++;
    return ALLM_OK;
}

static allm_status look_after(void *state, const allm_loop_view *view,
                              const allm_context *c, allm_verdict *v, void *ud)
{
    struct nosy *n = ud;
    int *mine = state;
    (void)c;
    ++*mine;
    CHECK_INT(*mine, n->after + 1);
    n->after++;
    if (view->turn == n->at && n->decision) {
        v->decision = n->decision;
        v->reason = n->nameless ? NULL : "enough_of_it";
        v->say = "Go on.";
    }
    return n->status;
}

static void look_closed(void *state, void *ud)
{
    (void)state;
    ((struct nosy *)ud)->closed++;
}

static void policies_decide_too(void)
{
    static const struct {
        const char *why;
        allm_decision decision;
        allm_status status;
        const char *reason;
        int before, after;
    } told[] = {
        { "it only looks", ALLM_DECISION_NONE, ALLM_OK, "completed", 3, 3 },
        { "it stops", ALLM_DECISION_HALT, ALLM_OK, "enough_of_it", 1, 1 },
        { "it says more", ALLM_DECISION_CONTINUE, ALLM_OK, "completed", 3, 3 },
        { "it fails", ALLM_DECISION_NONE, ALLM_ERR_TOOL, "policy_failed", 1,
          1 },
        { "it has no word", ALLM_DECISION_HALT, ALLM_OK, "policy_failed", 1,
          1 },
        { "it is done", ALLM_DECISION_DONE, ALLM_OK, "completed", 1, 1 },
        { "it makes no sense", (allm_decision)77, ALLM_OK, "policy_failed", 1,
          1 },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct nosy n = { .decision = told[i].decision,
                          .status = told[i].status,
                          .nameless = i == 4 };
        const allm_policy *policy =
            ALLM(policy, .name = "nosy", .state_size = sizeof(int), .ud = &n,
                 .before_turn = look_before, .after_turn = look_after,
                 .close = look_closed);
        struct bench b;
        check_row(told[i].why);
        begin(&b, "[" TURN("c0", "t") ", " TURN("c1", "t") ", " SAY("x") "]",
              "t=text:1",
              ALLM(agent_opts, .call = ALLM(call_opts, .policy_count = 1,
                                            .policies = &policy)));
        const allm_agent_result *a = wait_for(&b);
        CHECK_TEXT(GET(a, reason), told[i].reason);
        CHECK_INT(n.before, told[i].before);
        CHECK_INT(n.after, told[i].after);
        if (told[i].decision == ALLM_DECISION_CONTINUE)
            CHECK_TEXT(turns_messages(GET(a, messages)),
                       "u:hi a:(c0) t:c0=1 u:Go on. a:(c1) t:c1=1");
        end(&b);
        CHECK(n.closed == 1);
    }
}

/* -------------------------------------------------------------- budgets --- */

#define USED(n) "['usage', {'input_tokens': " #n ", 'output_tokens': 0}], "

/* A policy that sets no reason: its verdict, and whether it got ud. */
static allm_decision said;
static int called_with_ud;

static allm_status say_before(void *state, const allm_loop_view *view,
                              allm_verdict *v, void *ud)
{
    (void)state;
    (void)view;
    called_with_ud += ud != NULL;
    v->decision = said;
    v->say = "Well?";
    return ALLM_OK;
}

static allm_status say_after(void *state, const allm_loop_view *view,
                             const allm_context *c, allm_verdict *v, void *ud)
{
    (void)state;
    (void)view;
    (void)c;
    called_with_ud += ud != NULL;
    v->decision = said;
    return ALLM_OK;
}

static void policies_run_before_a_turn(void)
{
    static const struct {
        const char *why;
        allm_decision decision;
        const char *reason, *messages;
    } told[] = {
        { "it says something", ALLM_DECISION_CONTINUE, "completed",
          "u:hi u:Well? a:(c0) t:c0=1 u:Well?" },
        { "it is done", ALLM_DECISION_DONE, "completed", "u:hi" },
        { "it has an error", ALLM_DECISION_ERROR, "error", "u:hi" },
        { "nothing to do again yet", ALLM_DECISION_RETRY, "policy_failed",
          "u:hi" },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const allm_policy *policy = ALLM(policy, .name = "mine",
                                         .before_turn = say_before);
        struct bench b;
        check_row(told[i].why);
        said = told[i].decision;
        called_with_ud = 0;
        begin(&b, "[" TURN("c0", "t") ", " SAY("x") "]", "t=text:1",
              ALLM(agent_opts, .call = ALLM(call_opts, .policy_count = 1,
                                            .policies = &policy)));
        const allm_agent_result *a = wait_for(&b);
        CHECK_TEXT(GET(a, reason), told[i].reason);
        CHECK_TEXT(turns_messages(GET(a, messages)), told[i].messages);
        CHECK_INT(called_with_ud, 0);
        end(&b);
    }
}

/* A policy that always wants another answer ends at the limit, too. */
static allm_status again(allm_context *c, void *ud)
{
    (void)ud;
    return allm_context_decide(c, ALLM_DECISION_RETRY, NULL, NULL);
}

static void a_stage_that_asks_again_counts(void)
{
    allm_pipeline *stock = allm_pipeline_new();
    allm_pipeline *mine = allm_pipeline_insert(
        stock, "parse", ALLM(stage, .name = "again", .run = again));
    struct bench b = { .clock = { 0, 0 } };
    b.engine = turns_engine("[" SAY("x") ", " SAY("y") ", " SAY("z") "]", "",
                            &b.clock);
    b.thread = turns_thread();
    b.stream = allm_chat(b.engine, b.thread,
                         ALLM(call_opts, .max_turns = 2, .pipeline = mine));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    const allm_chat_result *c = allm_stream_chat_result(b.stream);
    CHECK_TEXT(GET(c, halted_reason), "max_turns");
    CHECK_INT(GET(c, step_count), 2);
    end(&b);
    allm_pipeline_free(mine);
    allm_pipeline_free(stock);
}

static void asking_again_counts(void)
{
    static const char turns[] =
        "[" TURN("c0", "t") ", " SAY("x") ", " SAY("y") ", " SAY("z") "]";
    const allm_policy *policy = ALLM(policy, .name = "mine",
                                     .after_turn = say_after);
    struct bench b;
    said = ALLM_DECISION_RETRY;
    called_with_ud = 0;
    begin(&b, turns, "t=text:1",
          ALLM(agent_opts, .max_iterations = 3,
               .call = ALLM(call_opts, .policy_count = 1,
                            .policies = &policy)));
    const allm_agent_result *a = wait_for(&b);
    CHECK_TEXT(GET(a, reason), "max_iterations_reached");
    CHECK_INT(GET(a, iterations), 3);
    CHECK_INT(GET(a, tool_calls), 1);
    CHECK_INT(called_with_ud, 0);
    end(&b);
    b = (struct bench){ .clock = { 0, 0 } };
    b.engine = turns_engine(turns, "t=text:1", &b.clock);
    b.thread = turns_thread();
    b.stream = allm_chat(b.engine, b.thread,
                         ALLM(call_opts, .max_turns = 3, .policy_count = 1,
                              .policies = &policy));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    const allm_chat_result *c = allm_stream_chat_result(b.stream);
    CHECK_TEXT(GET(c, halted_reason), "max_turns");
    CHECK_INT(GET(c, step_count), 3);
    CHECK_TEXT(turns_messages(GET(c, thread)), "u:hi a:(c0) t:c0=1 a:x a:y");
    end(&b);
}

static void loops_share_a_budget(void)
{
    static const char turns[] = "[[" USED(60)
        CALL("c0", "t",
             "{}") ", ['finish', 'tool_calls']], "
                   "[" USED(60)
                       CALL("c1", "t",
                            "{}") ", ['finish', 'tool_calls']], "
                                  "[" USED(
                                      60) "['text', 'x'], ['finish', 'stop']]]";
    static const struct {
        const char *why;
        allm_budget_opts opts;
        const char *reason, *limit;
        int runs;
    } told[] = {
        { "tokens", { .max_tokens = 100 }, "budget", "max_tokens", 2 },
        { "tokens enough", { .max_tokens = 1000 }, "completed", NULL, 2 },
        { "what is reserved counts", { .max_tokens = 100,
                                       .reserve_tokens = 50 }, "budget",
          "max_tokens", 1 },
        { "calls of tools", { .max_tool_calls = 1 }, "budget",
          "max_tool_calls", 1 },
        { "time", { .max_ms = 5 }, "budget", "max_ms", 1 },
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        allm_budget_opts opts = told[i].opts;
        opts.size = sizeof opts;
        allm_budget *budget = allm_budget_new(&opts);
        struct bench b;
        check_row(told[i].why);
        begin(&b, turns, opts.max_ms ? "t=later:9:text:1" : "t=text:1",
              ALLM(agent_opts, .call = ALLM(call_opts, .budget = budget)));
        const allm_agent_result *a = wait_for(&b);
        CHECK_TEXT(GET(a, reason), told[i].reason);
        if (told[i].limit)
            CHECK_TEXT(allm_json_text(allm_json_get(GET(a, metadata), "budget"),
                                      NULL),
                       told[i].limit);
        CHECK_INT(turns_runs(), told[i].runs);
        CHECK_INT(allm_budget_tool_calls(budget), told[i].runs);
        const allm_usage *used = GET(a, usage); /* 60 of each that was made */
        CHECK_INT(GET(a, iterations), GET(used, input_tokens.value) / 60);
        end(&b);
        allm_budget_free(budget);
    }
    allm_budget *bad = allm_budget_new(&(allm_budget_opts){ .size = 1 });
    struct bench b;
    begin(&b, turns, "t=text:1",
          ALLM(agent_opts, .call = ALLM(call_opts, .budget = bad)));
    if (bad)
        CHECK_TEXT(turns_play(b.stream), "misuse struct_size");
    end(&b);
    allm_budget_free(bad);
}

/* --------------------------------------------------------- long results --- */

#define TEN "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "end"

static void answer_long(void *self, const allm_tool *tool, allm_tool_run *run,
                        const allm_json *args)
{
    (void)self;
    (void)tool;
    (void)args;
    allm_tool_text(run, LONG, ALLM_NUL_ENDED);
}

/* The executor runs the caller's tools; the one that reads on is ours. */
static void the_rest_is_there_with_an_executor_too(void)
{
    struct bench b = { .clock = { 0, 0 } };
    const allm_executor x = { .size = sizeof x, .execute = answer_long,
                              .flags = ALLM_EXECUTOR_INLINE };
    b.engine =
        turns_engine("[" TURN("c0", "t") ", [" READ_ON FINISH SAY("x") "]",
                     "t=text:", &b.clock);
    b.thread = turns_thread();
    b.stream =
        allm_chat(b.engine, b.thread,
                  ALLM(call_opts, .max_tool_output = 120, .executor = &x));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    const allm_chat_result *c = allm_stream_chat_result(b.stream);
    CHECK_TEXT(turns_messages(GET(c, thread)),
               "u:hi a:(c0) t:c0=0123456789012345\n"
               "[99 of 123 bytes left out: bytes 16 to 115]\n56789end "
               "a:(c1) t:c1=89end a:x");
    CHECK_TEXT(allm_stream_tool_output(b.stream, "c0", NULL), LONG);
    end(&b);
}

/* A tool of the caller has that name: the rest is there for him alone. */
static void the_rest_is_there_without_the_tool(void)
{
    struct bench b = { .clock = { 0, 0 } };
    b.engine = turns_engine("[" TURN("c0", "tool_output") ", " SAY("x") "]",
                            "tool_output=text:" LONG, &b.clock);
    b.thread = turns_thread();
    b.stream = allm_chat(b.engine, b.thread,
                         ALLM(call_opts, .max_tool_output = 120));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    CHECK_TEXT(allm_stream_tool_output(b.stream, "c0", NULL), LONG);
    end(&b);
}

static void long_results_are_cut(void)
{
    struct bench b = { .clock = { 0, 0 } };
    allm_json *json = noun_json("{'max_tool_output': 120}");
    b.engine = turns_engine(READ_TWICE, "t=text:" LONG, &b.clock);
    b.thread = turns_thread();
    b.stream = allm_chat(b.engine, b.thread, ALLM(call_opts, .json = json));
    CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
    const allm_chat_result *c = allm_stream_chat_result(b.stream);
    CHECK_TEXT(turns_messages(GET(c, thread)),
               "u:hi a:(c0) t:c0=0123456789012345\n"
               "[99 of 123 bytes left out: bytes 16 to 115]\n56789end "
               "a:(c1,c2) t:c1=89end t:c2={\"error\":\"no result of that call "
               "was truncated; truncated results say so\"} a:x");
    size_t len = 0;
    CHECK_TEXT(allm_stream_tool_output(b.stream, "c0", &len), LONG);
    CHECK_INT(len, 123);
    CHECK(!allm_stream_tool_output(b.stream, "c1", NULL));
    end(&b);
    allm_json_free(json);
}

static void the_same_calls_again_end_it(void)
{
    static const struct {
        const char *json, *reason;
        int runs;
    } told[] = {
        { "{'max_same_calls': 2}", "repeated_calls", 2 },
        { "{'max_same_calls': 3}", "repeated_calls", 4 },
        { "{}", "completed", 6 },
    };
    static const char turns[] = SIX_TURNS;
    for (size_t i = 0; i < 3; i++) {
        struct bench b;
        allm_json *json = noun_json(told[i].json);
        begin(&b, turns, "t=text:1",
              ALLM(agent_opts, .call = ALLM(call_opts, .json = json)));
        const allm_agent_result *a = wait_for(&b);
        CHECK_TEXT(GET(a, reason), told[i].reason);
        CHECK_INT(turns_runs(), i == 1 ? 6 : told[i].runs);
        end(&b);
        allm_json_free(json);
    }
}

/* ---------------------------------------------------------------- taken --- */

static void an_agent_may_be_left_anywhere(void)
{
    for (int cut = 0; cut < 12; cut++) {
        struct bench b;
        const allm_event *event;
        begin(&b, "[" TURN("c0", "t") ", " SAY("x") "]", "t=later:9:text:1",
              NULL);
        for (int i = 0; i < cut; i++)
            if (allm_stream_next(b.stream, &event) != ALLM_EVENT)
                break;
        allm_stream_cancel(b.stream);
        CHECK_INT(allm_stream_wait(b.stream), ALLM_OK);
        const allm_agent_result *a = allm_stream_agent_result(b.stream);
        CHECK(a && (!strcmp(a->reason, "cancelled") ||
                    !strcmp(a->reason, "completed")));
        end(&b);
    }
}

/* ------------------------------------------------------------ histories --- */

static uint32_t draw(struct random r, uint32_t below)
{
    return (uint32_t)random_below(r, below);
}

static void add(char *out, size_t size, const char *word)
{
    strncat(out, word, size - strlen(out) - 1);
}

/* Every call is answered once, right behind its turn, in the order of calls. */
static void check_history(const allm_thread *t)
{
    for (size_t i = 0; i < allm_thread_count(t); i++) {
        const allm_message *m = allm_thread_at(t, i);
        for (size_t j = 0; j < m->tool_call_count; j++) {
            const allm_message *answer = allm_thread_at(t, i + 1 + j);
            CHECK(answer && answer->role == ALLM_ROLE_TOOL &&
                  !strcmp(answer->tool_call_id, m->tool_calls[j]->id));
        }
    }
}

static void every_call_is_answered(void)
{
    static const char *const names[] = { "a", "b", "c", "odd" };
    static const char *const what[] = { "text:x", "fail:x", "later:5:text:y",
                                        "raise:z", "none", "halt:own:1" };
    static const char *const ids[] = { "i0", "i1", "i2", "i3", "i4" };
    struct random r = check_random();
    for (int run = 0; run < 500; run++) {
        char script[4096] = "[", tools[256] = "";
        for (uint32_t n = 1 + draw(r, 5); n; n--) {
            add(script, sizeof script, "[");
            for (uint32_t c = 1 + draw(r, 4); c; c--) {
                add(script, sizeof script, "['tool_call', {'id': '");
                add(script, sizeof script, ids[c]);
                add(script, sizeof script, "', 'name': '");
                add(script, sizeof script, names[draw(r, 4)]);
                add(script, sizeof script,
                    draw(r, 5) ? "', 'arguments': {}}], "
                               : "', 'raw_arguments': 'no'}], ");
            }
            add(script, sizeof script, "['finish', 'tool_calls']], ");
        }
        add(script, sizeof script, SAY("x") "]");
        for (int i = 0; i < 3; i++) {
            add(tools, sizeof tools, names[i]);
            add(tools, sizeof tools, "=");
            add(tools, sizeof tools, what[draw(r, 6)]);
            add(tools, sizeof tools, ";");
        }
        struct bench b;
        check_row(script);
        begin(&b, script, tools,
              ALLM(agent_opts, .max_iterations = 1 + draw(r, 7),
                   .flags = draw(r, 2) ? ALLM_AGENT_PARALLEL : 0));
        const allm_agent_result *a = wait_for(&b);
        check_history(GET(a, messages));
        end(&b);
    }
}

TESTS = {
    TEST(an_agent_ends_for_one_reason),
    TEST(answers_carry_what_the_loop_did),
    TEST(usage_is_of_all_calls),
    TEST(iterations_and_the_end_are_traced),
    TEST(wrong_arguments_are_reported_to_the_model),
    TEST(options_are_checked),
    TEST(habits_may_be_changed),
    TEST(a_loop_out_of_iterations_keeps_its_last_round),
    TEST(stages_may_be_exchanged),
    TEST(the_context_tells_which_calls_ran),
    TEST(a_stage_may_see_errors),
    TEST(policies_decide_too),
    TEST(policies_run_before_a_turn),
    TEST(asking_again_counts),
    TEST(a_stage_that_asks_again_counts),
    TEST(loops_share_a_budget),
    TEST(long_results_are_cut),
    TEST(the_rest_is_there_with_an_executor_too),
    TEST(the_rest_is_there_without_the_tool),
    TEST(the_same_calls_again_end_it),
    TEST(an_agent_may_be_left_anywhere),
    TEST_ONCE(every_call_is_answered),
    TESTS_END,
};
