/* test_trace.c - spans, retries, warnings, and their JSON lines */
#include "engine/trace.h"

#include "base/buf.h"
#include "base/status.h"

#include "harness/noun.h"

#include <unistd.h>

/* The events, one JSON line each. */
struct record {
    struct arena arena;
    struct buf lines;
    size_t count;
    struct clock_manual time;
    struct trace trace;
};

static void write_down(const allm_trace_event *event, void *ud)
{
    struct record *r = ud;
    allm_text *t = allm_trace_json(event, ALLM_TRACE_PLAIN);
    const char *line = allm_text_bytes(t, NULL);
    buf_text(&r->lines, line ? line : "?");
    buf_byte(&r->lines, '\n');
    r->count++;
    CHECK_ALWAYS(event->size == sizeof *event && event->metadata);
    allm_text_free(t);
}

static void record_init(struct record *r)
{
    arena_init(&r->arena, mem_default());
    buf_init(&r->lines, &r->arena, 100000);
    r->count = 0;
    r->time = (struct clock_manual){ 5000000, 1700000000000 };
    r->trace = (struct trace){ write_down, r, clock_of_manual(&r->time) };
}

/* Were these lines written?  ' means ". */
static void check_lines(struct record *r, const char *want)
{
    struct buf quoted;
    buf_init(&quoted, &r->arena, 100000);
    for (; *want; want++)
        buf_byte(&quoted, *want == '\'' ? '"' : *want);
    CHECK_SLICE(buf_slice(&r->lines), buf_slice(&quoted));
    arena_release(&r->arena);
}

static bool has_words(const struct buf *lines, const char *words)
{
    return lines->ptr && strstr(lines->ptr, words);
}

/* ---------------------------------------------------------------- spans --- */

static void a_span_begins_and_stops(void)
{
    struct record r;
    struct trace_span s;
    allm_json *before = noun_json("{'engine': 'e', 'tag': 1}");
    allm_json *extras = noun_json("{'result': 'ok', 'tag': 2}");
    record_init(&r);
    CHECK_ALWAYS(trace_begin(&s, &r.trace, "generate", "x", "fake:m", before));
    clock_advance(&r.time, 40);
    trace_end(&s, extras);
    check_lines(&r, "{'span':'generate','what':'start','time_ns':5000000,"
                    "'unix_ms':1700000000000,'request_id':'x','model':'fake:m',"
                    "'metadata':{'engine':'e','tag':1}}\n"
                    "{'span':'generate','what':'stop','time_ns':45000000,"
                    "'unix_ms':1700000000040,'duration_ns':40000000,"
                    "'request_id':'x','model':'fake:m',"
                    "'metadata':{'engine':'e','tag':2,'result':'ok'}}\n");
    CHECK_ALWAYS(r.count == 2);         /* even without memory */
    allm_json_free(before);
    allm_json_free(extras);
}

static void a_span_may_know_nothing(void)
{
    struct record r;
    struct trace_span s;
    record_init(&r);
    trace_begin(&s, &r.trace, "tool", NULL, NULL, NULL);
    trace_end(&s, NULL);
    check_lines(&r, "{'span':'tool','what':'start','time_ns':5000000,"
                    "'unix_ms':1700000000000,'metadata':{}}\n"
                    "{'span':'tool','what':'stop','time_ns':5000000,"
                    "'unix_ms':1700000000000,'duration_ns':0,"
                    "'metadata':{}}\n");
}

static void a_span_fails_with_its_error(void)
{
    struct record r;
    struct trace_span s;
    allm_json *before = noun_json("{'provider': 'openai'}");
    allm_error e = status_blank(ALLM_ERR_ADAPTER);
    e.reason = "timeout";
    e.message = "too late";
    e.http_status = (allm_int){ 504, true };
    record_init(&r);
    trace_begin(&s, &r.trace, "stream", "x", "m", before);
    clock_advance(&r.time, 1);
    trace_fail(&s, &e);
    CHECK_ALWAYS(r.count == 2);
    check_lines(
        &r, "{'span':'stream','what':'start','time_ns':5000000,"
            "'unix_ms':1700000000000,'request_id':'x','model':'m',"
            "'metadata':{'provider':'openai'}}\n"
            "{'span':'stream','what':'exception','time_ns':6000000,"
            "'unix_ms':1700000000001,'duration_ns':1000000,'request_id':'x',"
            "'model':'m','metadata':{'provider':'openai','kind':'adapter',"
            "'reason':'timeout','error':{'kind':'adapter','reason':'timeout',"
            "'message':'too late','provider':null,'status':504,"
            "'retry_after_ms':null,'request_id':null,'cause':null,"
            "'metadata':{}}}}\n");
    allm_json_free(before);
}

static void a_span_may_fail_for_lack_of_memory(void)
{
    struct record r;
    struct trace_span s;
    record_init(&r);
    trace_begin(&s, &r.trace, "chat", NULL, NULL, NULL);
    trace_fail(&s, NULL);
    CHECK(has_words(&r.lines, "\"reason\":\"out_of_memory\""));
    CHECK_ALWAYS(r.count == 2);
    arena_release(&r.arena);
}

/* Only the first end is reported; a cleanup may end it again. */
static void a_span_ends_once(void)
{
    struct record r;
    struct trace_span s;
    record_init(&r);
    trace_begin(&s, &r.trace, "step", NULL, NULL, NULL);
    trace_end(&s, NULL);
    trace_end(&s, NULL);
    trace_fail(&s, status_nomem());
    CHECK_ALWAYS(r.count == 2);
    struct trace_span never = { .trace = NULL };
    trace_end(&never, NULL);
    trace_fail(&never, NULL);
    CHECK_ALWAYS(r.count == 2);
    arena_release(&r.arena);
}

static void there_are_six_spans(void)
{
    static const struct {
        const char *name;
        bool known;
    } rows[] = {
        { "generate", true }, { "stream", true },  { "step", true },
        { "chat", true },     { "tool", true },    { "image", true },
        { "adapter", false }, { "Chat", false },   { "", false },
        { NULL, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record r;
        struct trace_span s;
        check_row(rows[i].name);
        record_init(&r);
        CHECK_ALWAYS(trace_begin(&s, &r.trace, rows[i].name, NULL, NULL,
                                 NULL) == rows[i].known);
        trace_end(&s, NULL);
        CHECK_ALWAYS(r.count == (rows[i].known ? 2 : 0));
        arena_release(&r.arena);
    }
}

static void nested_spans_tell_in_order(void)
{
    struct record r;
    struct trace_span outer, inner;
    record_init(&r);
    trace_begin(&outer, &r.trace, "chat", "id", NULL, NULL);
    clock_advance(&r.time, 1);
    trace_begin(&inner, &r.trace, "step", "id", NULL, NULL);
    clock_advance(&r.time, 2);
    trace_end(&inner, NULL);
    clock_advance(&r.time, 3);
    trace_end(&outer, NULL);
    CHECK(has_words(&r.lines, "\"duration_ns\":2000000,"));
    CHECK(has_words(&r.lines, "\"duration_ns\":6000000,"));
    CHECK_ALWAYS(r.count == 4);
    arena_release(&r.arena);
}

/* Without a callback, nothing is created, and no clock is read. */
static void without_a_listener_it_costs_nothing(void)
{
    struct trace t = { .fn = NULL };        /* no clock either */
    struct trace_span s;
    size_t before = check_allocations();
    CHECK(trace_begin(&s, &t, "generate", "x", "m", NULL));
    trace_end(&s, NULL);
    CHECK(trace_begin(&s, NULL, "generate", "x", "m", NULL));
    trace_fail(&s, status_nomem());
    trace_retry(&t, "x", "p", 1, 2, "r");
    trace_warn(&t, "x", "m", "r");
    trace_emit(&t, (allm_trace_event){ .span = "a", .what = "b" });
    CHECK(!trace_on(&t) && !trace_on(NULL));
    CHECK_ALWAYS(check_allocations() == before);
}

/* --------------------------------------------------------- other events --- */

static void retries_and_warnings_are_reported(void)
{
    struct record r;
    record_init(&r);
    trace_retry(&r.trace, "x", "openai", 1, 512, "rate_limited");
    trace_warn(&r.trace, "x", "openai:new", "unknown_model");
    allm_json *tag = noun_json("{'tag': 'doc'}");
    trace_emit(&r.trace, (allm_trace_event){ .span = "doctest",
                                             .what = "ping",
                                             .metadata = tag });
    CHECK_ALWAYS(r.count == 3);
    check_lines(&r, "{'span':'adapter','what':'retry','time_ns':5000000,"
                    "'unix_ms':1700000000000,'request_id':'x','metadata':"
                    "{'provider':'openai','attempt':1,'delay_ms':512,"
                    "'reason':'rate_limited'}}\n"
                    "{'span':'engine','what':'warning','time_ns':5000000,"
                    "'unix_ms':1700000000000,'request_id':'x',"
                    "'model':'openai:new',"
                    "'metadata':{'reason':'unknown_model'}}\n"
                    "{'span':'doctest','what':'ping','time_ns':5000000,"
                    "'unix_ms':1700000000000,'metadata':{'tag':'doc'}}\n");
    allm_json_free(tag);
}

static void ids_have_22_characters(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    for (int i = 0; i < 50; i++) {
        const char *id = trace_id(random_system(), &a);
        if (!id)
            break;
        CHECK_INT(strlen(id), 22);
        CHECK_INT(strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                             "wxyz0123456789_-"),
                  22);
        const char *other = trace_id(random_system(), &a);
        CHECK(!other || strcmp(id, other) != 0);
    }
    arena_release(&a);
}

static bool fill_nothing(void *ud, void *bytes, size_t len)
{
    (void)ud;
    (void)bytes;
    (void)len;
    return false;
}

static void without_chance_there_is_no_id(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    CHECK(!trace_id((struct random){ fill_nothing, NULL }, &a));
    arena_release(&a);
}

/* -------------------------------------------------------- OpenTelemetry --- */

#define RESPONSE \
    "{'id':'r1','model':'gpt-4o-2024-08-06','output_text':'a secret'," \
    "'finish_reason':'stop','usage':{'input_tokens':7,'output_tokens':3}}"
#define OF_RESPONSE \
    "'gen_ai.response.id':'r1'," \
    "'gen_ai.response.model':'gpt-4o-2024-08-06'," \
    "'gen_ai.response.finish_reasons':['stop']," \
    "'gen_ai.usage.input_tokens':7,'gen_ai.usage.output_tokens':3"

static const struct {
    const char *why;
    allm_trace_event event;
    const char *metadata, *want;
} told[] = {
    { "a call begins",
      { .span = "generate", .what = "start", .unix_ms = 1700000000000,
        .request_id = "x", .model = "openai:gpt-4o" },
      "{'provider':'openai','temperature':0.5,'max_tokens':9,"
      "'session_id':'s'}",
      "{'name':'chat gpt-4o','kind':'CLIENT','what':'start',"
      "'timeUnixNano':1700000000000000000,'attributes':{"
      "'gen_ai.operation.name':'chat','gen_ai.provider.name':'openai',"
      "'gen_ai.system':'openai','gen_ai.request.model':'gpt-4o',"
      "'gen_ai.request.temperature':0.5,'gen_ai.request.max_tokens':9,"
      "'gen_ai.conversation.id':'s','allm.request_id':'x'}}" },
    { "a model without a name of its own",
      { .span = "generate", .what = "start", .model = "openai:" },
      "{'provider':'openai'}",
      "{'name':'chat openai:','kind':'CLIENT','what':'start',"
      "'timeUnixNano':0,'attributes':{"
      "'gen_ai.operation.name':'chat','gen_ai.provider.name':'openai',"
      "'gen_ai.system':'openai','gen_ai.request.model':'openai:'}}" },
    { "a call ends",
      { .span = "generate", .what = "stop", .unix_ms = 1700000000000,
        .duration_ns = 1000000000, .model = "gpt-4o" },
      "{'response':" RESPONSE "}",
      "{'name':'chat gpt-4o','kind':'CLIENT','what':'stop',"
      "'startTimeUnixNano':1699999999000000000,"
      "'endTimeUnixNano':1700000000000000000,'attributes':{"
      "'gen_ai.operation.name':'chat','gen_ai.request.model':'gpt-4o',"
      OF_RESPONSE "}}" },
    { "a response that is null", { .span = "stream", .what = "stop" },
      "{'response':null}",
      "{'name':'stream','kind':'INTERNAL','what':'stop','startTimeUnixNano':0,"
      "'endTimeUnixNano':0,'attributes':{'gen_ai.operation.name':'stream'}}" },
    { "a step ends", { .span = "step", .what = "stop" },
      "{'step_result':{'response':" RESPONSE "}}",
      "{'name':'step','kind':'INTERNAL','what':'stop','startTimeUnixNano':0,"
      "'endTimeUnixNano':0,'attributes':{'gen_ai.operation.name':'step',"
      OF_RESPONSE "}}" },
    { "a chat ends", { .span = "chat", .what = "stop" },
      "{'chat_result':{'final_response':" RESPONSE "}}",
      "{'name':'invoke_agent','kind':'INTERNAL','what':'stop',"
      "'startTimeUnixNano':0,'endTimeUnixNano':0,'attributes':{"
      "'gen_ai.operation.name':'invoke_agent'," OF_RESPONSE "}}" },
    { "a tool",
      { .span = "tool", .what = "start", .model = "m" },
      "{'tool_name':'get_weather','tool_call_id':'c1'}",
      "{'name':'execute_tool get_weather','kind':'INTERNAL','what':'start',"
      "'timeUnixNano':0,'attributes':{'gen_ai.operation.name':'execute_tool',"
      "'gen_ai.request.model':'m','gen_ai.tool.name':'get_weather',"
      "'gen_ai.tool.call.id':'c1','gen_ai.tool.type':'function'}}" },
    { "a picture",
      { .span = "image", .what = "start", .model = "gpt-image-1" }, "{}",
      "{'name':'generate_content gpt-image-1','kind':'CLIENT',"
      "'what':'start','timeUnixNano':0,'attributes':{"
      "'gen_ai.operation.name':'generate_content',"
      "'gen_ai.request.model':'gpt-image-1','gen_ai.output.type':'image'}}" },
    { "a failure", { .span = "generate", .what = "exception" },
      "{'kind':'adapter','reason':'timeout','error':{'reason':'timeout'}}",
      "{'name':'chat','kind':'CLIENT','what':'exception',"
      "'startTimeUnixNano':0,'endTimeUnixNano':0,'attributes':{"
      "'gen_ai.operation.name':'chat','error.type':'timeout'}}" },
    { "a failure by its reason", { .span = "generate", .what = "exception" },
      "{'reason':'timeout'}",
      "{'name':'chat','kind':'CLIENT','what':'exception',"
      "'startTimeUnixNano':0,'endTimeUnixNano':0,'attributes':{"
      "'gen_ai.operation.name':'chat','error.type':'timeout'}}" },
    { "a failure nobody explains",
      { .span = "generate", .what = "exception" }, "{}",
      "{'name':'chat','kind':'CLIENT','what':'exception',"
      "'startTimeUnixNano':0,'endTimeUnixNano':0,'attributes':{"
      "'gen_ai.operation.name':'chat','error.type':'_OTHER'}}" },
    { "an answer that broke off", { .span = "generate", .what = "stop" },
      "{'response':{'finish_reason':'error',"
      "'metadata':{'error':{'reason':'truncated'}}}}",
      "{'name':'chat','kind':'CLIENT','what':'stop','startTimeUnixNano':0,"
      "'endTimeUnixNano':0,'attributes':{'gen_ai.operation.name':'chat',"
      "'gen_ai.response.finish_reasons':['error'],"
      "'error.type':'truncated'}}" },
    { "a retry", { .span = "adapter", .what = "retry" },
      "{'provider':'mistral','attempt':2,'delay_ms':500,'reason':'timeout'}",
      "{'name':'chat','kind':'CLIENT','what':'retry','timeUnixNano':0,"
      "'attributes':{'gen_ai.operation.name':'chat',"
      "'gen_ai.provider.name':'mistral_ai','gen_ai.system':'mistral_ai',"
      "'allm.retry.attempt':2,'allm.retry.delay_ms':500,"
      "'allm.retry.reason':'timeout'}}" },
    { "a warning",
      { .span = "engine", .what = "warning", .model = "gemini:new" },
      "{'provider':'gemini','reason':'unknown_model'}",
      "{'name':'chat new','kind':'CLIENT','what':'warning',"
      "'timeUnixNano':0,'attributes':{'gen_ai.operation.name':'chat',"
      "'gen_ai.provider.name':'gcp.gemini','gen_ai.system':'gemini',"
      "'gen_ai.request.model':'new','allm.warning':'unknown_model'}}" },
    { "a name that only looks like one with a provider",
      { .span = "stream", .what = "start", .model = "llama3:8b" },
      "{'provider':'ollama'}",
      "{'name':'stream llama3:8b','kind':'INTERNAL','what':'start',"
      "'timeUnixNano':0,'attributes':{'gen_ai.operation.name':'stream',"
      "'gen_ai.provider.name':'ollama','gen_ai.system':'ollama',"
      "'gen_ai.request.model':'llama3:8b'}}" },
    { "times out of all bounds",
      { .span = "stream", .what = "stop", .unix_ms = INT64_MIN,
        .duration_ns = INT64_MAX },
      "{}",
      "{'name':'stream','kind':'INTERNAL','what':'stop',"
      "'startTimeUnixNano':-9223372036854775808,"
      "'endTimeUnixNano':-9223372036854000000,"
      "'attributes':{'gen_ai.operation.name':'stream'}}" },
    { "an empty event", { .span = NULL }, NULL,
      "{'name':'chat','kind':'CLIENT','timeUnixNano':0,'attributes':{"
      "'gen_ai.operation.name':'chat'}}" },
};

static void events_have_names_of_opentelemetry(void)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        check_row(told[i].why);
        allm_json *metadata = told[i].metadata ? noun_json(told[i].metadata)
                                               : NULL;
        allm_trace_event e = told[i].event;
        e.size = sizeof e;
        e.metadata = metadata;
        CHECK_JSON(allm_trace_json(&e, ALLM_TRACE_OTEL), told[i].want);
        allm_json_free(metadata);
    }
}

static void bad_events_are_refused(void)
{
    allm_trace_event e = { .span = "chat" };
    CHECK(!allm_trace_json(NULL, ALLM_TRACE_PLAIN));
    allm_text *t = allm_trace_json(&e, ALLM_TRACE_PLAIN);
    CHECK_MISUSE(allm_text_error(t), "misuse", "ALLM(trace_event");
    allm_text_free(t);
    e.size = sizeof e;
    t = allm_trace_json(&e, 2);
    CHECK_MISUSE(allm_text_error(t), "misuse", "ALLM_TRACE_PLAIN");
    allm_text_free(t);
}

static void events_are_written_as_lines(void)
{
    int fd[2];
    char text[512];
    if (pipe(fd))
        return;
    allm_trace_event e = { .size = sizeof e, .span = "generate",
                           .what = "start" };
    allm_trace_write(&e, &fd[1]);
    allm_trace_write(&e, NULL);
    allm_trace_write(NULL, &fd[1]);
    close(fd[1]);
    ssize_t n = read(fd[0], text, sizeof text);
    close(fd[0]);
    if (check_whole())
        CHECK(n > 20 && text[0] == '{' && text[n - 2] == '}' &&
              text[n - 1] == '\n');
}

TESTS = {
    TEST(events_are_written_as_lines),
    TEST(a_span_begins_and_stops),
    TEST(a_span_may_know_nothing),
    TEST(a_span_fails_with_its_error),
    TEST(a_span_may_fail_for_lack_of_memory),
    TEST(a_span_ends_once),
    TEST(there_are_six_spans),
    TEST(nested_spans_tell_in_order),
    TEST(without_a_listener_it_costs_nothing),
    TEST(retries_and_warnings_are_reported),
    TEST(ids_have_22_characters),
    TEST(without_chance_there_is_no_id),
    TEST(events_have_names_of_opentelemetry),
    TEST(bad_events_are_refused),
    TESTS_END
};
