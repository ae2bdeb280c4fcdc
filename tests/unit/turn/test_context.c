/* test_context.c - one answer on its way through the stages */
#include "turn/context.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "turn/pipeline.h"

struct bench {
    struct arena arena;
    allm_context c;
    struct turn_terms terms;
    allm_response *response;
    allm_tool *tools[2];
};

static void begin(struct bench *b, const char *response)
{
    *b = (struct bench){ .response = NULL };
    arena_init(&b->arena, mem_default());
    context_init(&b->c, &b->arena);
    allm_codec *codec = noun_read("Response", response);
    const allm_response *r = allm_codec_value(codec, ALLM_TYPE_RESPONSE);
    b->response = r ? allm_response_new(r) : NULL;
    allm_codec_free(codec);
    b->tools[0] = allm_tool_new(
        ALLM(tool, .name = "b", .description = "", .schema_text = "{}"));
    b->tools[1] = allm_tool_new(ALLM(tool, .name = "a", .description = "",
                                     .schema_text = "{\"required\": [\"q\"]}"));
    b->c.response = b->response;
    b->c.terms = &b->terms;
    b->c.tools = (const allm_tool *const *)b->tools;
    b->c.tool_count = b->tools[0] && b->tools[1] ? 2 : 0;
    b->c.max_iterations = 10;
}

static void end(struct bench *b)
{
    context_release(&b->c);
    arena_release(&b->arena);
    allm_response_free(b->response);
    allm_tool_free(b->tools[0]);
    allm_tool_free(b->tools[1]);
}

#define CALLS "'tool_calls': [{'id': 'c0', 'name': 'b', 'arguments': {}}, " \
              "{'id': 'c1', 'name': 'odd', 'arguments': {}}]"

/* ---------------------------------------------------------------- parse --- */

static void parse_looks_for_calls(void)
{
    static const struct {
        const char *why, *response;
        struct turn_terms terms;
        allm_decision decision;
        size_t calls;
        const char *trace;
    } rows[] = {
        { "9 a text", "{'output_text': 'x', 'finish_reason': 'stop'}",
          { .by_calls = true, .retry_blank = true }, ALLM_DECISION_DONE, 0,
          "['parse_no_tools']" },
        { "10 nothing", "{'output_text': '', 'finish_reason': 'stop'}",
          { .by_calls = true, .retry_blank = true }, ALLM_DECISION_RETRY, 0,
          "['parse_blank_stop']" },
        { "10 blanks", "{'output_text': ' \\n', 'finish_reason': 'stop'}",
          { .by_calls = true, .retry_blank = true }, ALLM_DECISION_RETRY, 0,
          "['parse_blank_stop']" },
        { "12 calls", "{" CALLS ", 'finish_reason': 'stop'}",
          { .by_calls = true }, ALLM_DECISION_NONE, 2,
          "['parse_tool_calls']" },
        { "13 the terminal one", "{" CALLS ", 'finish_reason': 'tool_calls'}",
          { .by_calls = true, .terminal_tool = "odd" }, ALLM_DECISION_DONE, 2,
          "[['parse_terminal_tool','odd']]" },
        { "by the finish reason", "{" CALLS ", 'finish_reason': 'stop'}",
          { 0 }, ALLM_DECISION_DONE, 0, "['parse_no_tools']" },
        { "tool_calls", "{" CALLS ", 'finish_reason': 'tool_calls'}", { 0 },
          ALLM_DECISION_NONE, 2, "['parse_tool_calls']" },
        { "manual", "{" CALLS ", 'finish_reason': 'tool_calls'}",
          { .manual = true }, ALLM_DECISION_HALT, 0, "['parse_manual']" },
        { "none", "{'output_text': 'x'}", { 0 }, ALLM_DECISION_NONE, 0,
          "['parse_no_tools']" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        check_row(rows[i].why);
        begin(&b, rows[i].response);
        b.terms = rows[i].terms;
        if (b.response)
            CHECK_INT(parse_run(&b.c, NULL), ALLM_OK);
        CHECK_INT(allm_context_decision(&b.c), rows[i].decision);
        size_t n;
        allm_context_tool_calls(&b.c, &n);
        CHECK_INT(n, rows[i].calls);
        CHECK_VALUE(allm_context_trace(&b.c), rows[i].trace);
        CHECK(!allm_context_terminal_call(&b.c) ==
              !rows[i].terms.terminal_tool);
        end(&b);
    }
    struct bench b;
    begin(&b, "{}");
    b.c.response = NULL;
    CHECK_INT(parse_run(&b.c, NULL), ALLM_ERR_ENGINE);
    CHECK_ERROR(allm_context_error(&b.c), ALLM_ERR_ENGINE, "pipeline_error",
                NULL);
    end(&b);
}

/* ------------------------------------------------------------- validate --- */

static void validate_tells_unknown_tools(void)
{
    struct bench b;
    begin(&b, "{" CALLS ", 'finish_reason': 'tool_calls'}");
    b.c.calls = GET(b.response, tool_calls);
    b.c.call_count = GET(b.response, tool_call_count);
    if (b.c.call_count && b.c.tool_count)
        CHECK_INT(validate_run(&b.c, NULL), ALLM_ERR_ENGINE);
    CHECK_ERROR(allm_context_error(&b.c), ALLM_ERR_ENGINE, "unknown_tool",
                "odd");
    CHECK_INT(allm_context_status(&b.c), ALLM_ERR_ENGINE);
    CHECK_INT(allm_context_decision(&b.c), ALLM_DECISION_ERROR);
    end(&b);

    begin(&b, "{" CALLS ", 'finish_reason': 'tool_calls'}");
    b.terms.tell_unknown = true;
    b.c.calls = GET(b.response, tool_calls);
    b.c.call_count = GET(b.response, tool_call_count);
    if (b.c.call_count && b.c.tool_count)
        CHECK_INT(validate_run(&b.c, NULL), ALLM_OK);
    size_t n;
    const allm_call_result *const *r = allm_context_tool_results(&b.c, &n);
    CHECK_INT(n, 1);
    CHECK_TEXT(n ? r[0]->content : NULL,
               "Error: unknown tool 'odd'. Available: a, b");
    CHECK_INT(n ? r[0]->is_error : 0, 1);
    allm_context_tool_calls(&b.c, &n);
    CHECK_INT(n, 1);
    CHECK_VALUE(allm_context_validation_errors(&b.c),
                "[['unknown_tool','odd']]");
    end(&b);
}

static void validate_checks_arguments(void)
{
    struct bench b;
    allm_json_schema *schemas[2] = { NULL, NULL };
    begin(&b, "{'tool_calls': [{'id': 'c0', 'name': 'a', 'arguments': {}}, "
              "{'id': 'c1', 'name': 'a', 'arguments': {'q': 1}}]}");
    b.terms.tell_unknown = b.terms.check_arguments = true;
    b.c.schemas = schemas;
    b.c.calls = GET(b.response, tool_calls);
    b.c.call_count = GET(b.response, tool_call_count);
    if (b.c.call_count && b.c.tool_count)
        validate_run(&b.c, NULL);
    size_t n;
    const allm_tool_call *const *calls = allm_context_tool_calls(&b.c, &n);
    CHECK_INT(n, 1);
    CHECK_TEXT(n ? calls[0]->id : NULL, "c1");
    const allm_call_result *const *r = allm_context_tool_results(&b.c, &n);
    CHECK(n == 1 && r[0]->is_error);
    const allm_json *faults = allm_context_validation_errors(&b.c);
    CHECK_TEXT(allm_json_text(allm_json_pointer(faults, "/0/0"), NULL),
               "invalid_arguments");
    CHECK_INT(allm_json_count(allm_json_pointer(faults, "/0/2")), 1);
    end(&b);
    allm_json_schema_free(schemas[0]);
    allm_json_schema_free(schemas[1]);
}

/* ----------------------------------------------------- budget to decide --- */

static void the_last_turn_may_not_run_tools(void)
{
    struct bench b;
    for (uint32_t i = 0; i < 3; i++) {
        begin(&b, "{" CALLS "}");
        b.terms.guard = true;
        b.c.max_iterations = 3;
        b.c.iteration = i;
        allm_status status = budget_run(&b.c, NULL);
        CHECK_INT(status, ALLM_OK);
        CHECK_TEXT(allm_context_reason(&b.c),
                   i == 2 ? "budget_exceeded" : NULL);
        CHECK_VALUE(allm_context_trace(&b.c),
                    i == 2 ? "['budget_exceeded_iterations']"
                           : "['budget_ok']");
        end(&b);
    }
}

static void inject_makes_messages(void)
{
    struct bench b;
    begin(&b, "{" CALLS ", 'output_text': 'x', 'finish_reason': 'tool_calls', "
              "'message': {'role': 'assistant', 'content': 'y', "
              "'provider_state': {'s': 1}}}");
    size_t n = GET(b.response, tool_call_count);
    if (n == 2) {
        allm_context_add_result(&b.c, b.response->tool_calls[1], "two",
                                ALLM_NUL_ENDED, false);
        allm_context_add_result(&b.c, b.response->tool_calls[0], "one", 3,
                                true);
        inject_run(&b.c, NULL);
        decide_run(&b.c, NULL);
    }
    const allm_message *const *m = allm_context_result_messages(&b.c, &n);
    CHECK_INT(n, 3);
    CHECK_TEXT(n > 0 ? m[0]->text : NULL, "x");
    CHECK_VALUE(n > 0 ? m[0]->provider_state : NULL, "{'s':1}");
    CHECK_VALUE(n > 0 ? m[0]->metadata : NULL,
                "{'finish_reason':'tool_calls'}");
    CHECK_TEXT(n > 1 ? m[1]->text : NULL, "one");
    CHECK_TEXT(n > 2 ? m[2]->text : NULL, "two");
    CHECK_INT(allm_context_decision(&b.c), ALLM_DECISION_CONTINUE);
    CHECK_VALUE(allm_context_trace(&b.c), "['inject_results','loop_continue']");
    end(&b);

    begin(&b, "{}");
    decide_run(&b.c, NULL);
    CHECK_VALUE(allm_context_trace(&b.c), "['loop_done_fallback']");
    CHECK_INT(allm_context_decision(&b.c), ALLM_DECISION_DONE);
    end(&b);
}

/* -------------------------------------------------------------- authors --- */

static void authors_learn_what_is_wrong(void)
{
    struct bench b;
    begin(&b, "{" CALLS "}");
    allm_context *c = &b.c;
    CHECK_INT(allm_context_note(c, "", NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_context_decide(c, ALLM_DECISION_HALT, "", NULL),
              ALLM_ERR_MISUSE);
    CHECK_INT(allm_context_decide(c, (allm_decision)99, "x", NULL),
              ALLM_ERR_MISUSE);
    CHECK_INT(allm_context_set_tool_calls(c, 1, NULL), ALLM_ERR_MISUSE);
    CHECK_INT(allm_context_add_result(c, NULL, "x", 1, false), ALLM_ERR_MISUSE);
    CHECK_INT(allm_context_emit(c, ALLM(event, .type = ALLM_EV_TEXT_DELTA)),
              ALLM_ERR_MISUSE);
    CHECK_INT(allm_context_fail(c, ALLM(error, .kind = ALLM_OK)),
              ALLM_ERR_MISUSE);
    CHECK_INT(allm_context_decide(c, ALLM_DECISION_HALT, "mine", NULL),
              ALLM_OK);
    CHECK_TEXT(allm_context_reason(c), "mine");
    CHECK_INT(allm_context_note(c, "tag", "text"), ALLM_OK);
    CHECK_VALUE(allm_context_trace(c), "[['tag','text']]");
    allm_message *m = allm_message_from_text(ALLM_ROLE_USER, "x");
    allm_context_add_message(c, m);
    allm_message_free(m);
    size_t n;
    allm_context_result_messages(c, &n);
    CHECK_INT(n, 1);
    CHECK_ALWAYS(allm_context_alloc(NULL, 1) == NULL);
    CHECK_ALWAYS(allm_context_status(NULL) == ALLM_ERR_NOMEM);
    end(&b);
}

static void the_first_calls_halt_wins(void)
{
    struct bench b;
    begin(&b, "{" CALLS "}");
    struct tool_result late = { .halts = true }, early = late, again = late;
    if (b.response) {
        late.view.call = b.response->tool_calls[1];
        early.view.call = again.view.call = b.response->tool_calls[0];
        late.outcome = outcome_from_halt("late", NULL);
        early.outcome = outcome_from_halt("early", NULL);
        again.outcome = outcome_from_halt("again", NULL);
        context_halt(&b.c, &late);
        context_halt(&b.c, &early);
        context_halt(&b.c, &again);
        CHECK(b.c.halt == &early);
        decide_run(&b.c, NULL);
        CHECK_TEXT(allm_context_reason(&b.c), "early");
    }
    end(&b);
}

TESTS = {
    TEST(parse_looks_for_calls),
    TEST(validate_tells_unknown_tools),
    TEST(validate_checks_arguments),
    TEST(the_last_turn_may_not_run_tools),
    TEST(inject_makes_messages),
    TEST(authors_learn_what_is_wrong),
    TEST(the_first_calls_halt_wins),
    TESTS_END,
};
