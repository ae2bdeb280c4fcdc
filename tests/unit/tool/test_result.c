/* test_result.c - the result of one tool call */
#include "tool/result.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "json/build.h"

static const allm_tool_call call = { .size = sizeof call, .id = "c0",
                                     .name = "t" };

static struct tool_result result(struct outcome o, bool halts)
{
    return (
        struct tool_result){ .view.call = &call, .outcome = o,
                                 .halts = halts };
}

static const struct row {
    const char *why;
    struct outcome o;
    bool halts;
    allm_event_type type;
    const char *text, *reason, *metadata;
} rows[] = {
    { "a result", { .kind = OUTCOME_RESULT }, false,
      ALLM_EV_TOOL_RESULT_ENCODED, "content", NULL, NULL },
    { "a failure that the model reads", { .kind = OUTCOME_FAILURE }, false,
      ALLM_EV_TOOL_RESULT_ENCODED, "content", NULL, NULL },
    { "a failure that halts", { .kind = OUTCOME_FAILURE }, true,
      ALLM_EV_TOOL_HALT, "content", "tool_error",
      "{'halted_reason':'tool_error','halt_tool_call_id':'c0'}" },
    { "a halt", { .kind = OUTCOME_HALT, .reason = "own" }, true,
      ALLM_EV_TOOL_HALT, "content", "own",
      "{'halted_reason':'own','halt_tool_call_id':'c0','halt_result':null}" },
    { "a question", { .kind = OUTCOME_QUESTION, .question = "q?" }, true,
      ALLM_EV_ASK_USER_REQUESTED, "q?", NULL,
      "{'halted_reason':'ask_user','pending_tool_call_id':'c0',"
      "'pending_question':'q?','ask_user_opts':null}" },
};

static void one_event_ends_a_call(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        allm_event e;
        struct tool_result r = result(rows[i].o, rows[i].halts);
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        if (result_close(&r, SLICE("content"))) {
            CHECK(result_ended(&r, &a, &e));
            CHECK_INT(e.type, rows[i].type);
            CHECK_TEXT(e.id, "c0");
            CHECK_TEXT(e.text, rows[i].text);
            CHECK_TEXT(e.reason, rows[i].reason);
            home_drop(r.message->home);
        }
        arena_release(&a);
    }
}

static void halts_have_metadata(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct build b;
        struct tool_result r = result(rows[i].o, rows[i].halts);
        check_row(rows[i].why);
        arena_init(&a, mem_default());
        build_init(&b, &a);
        build_object(&b);
        result_write_halt(&b, rows[i].halts ? &r : NULL);
        build_end(&b);
        const allm_json *v = build_done(&b);
        if (v)
            CHECK_VALUE(v, rows[i].metadata ? rows[i].metadata : "{}");
        arena_release(&a);
    }
}

static void the_message_is_made_once(void)
{
    struct tool_result r = result((struct outcome){ .kind = OUTCOME_RESULT },
                                  false);
    if (!result_close(&r, (struct slice){ "hidden", 0 }))
        return;
    CHECK_TEXT(r.message->text, "");
    CHECK_TEXT(r.message->tool_call_id, "c0");
    CHECK(r.view.content == r.message->text);
    CHECK_INT(r.view.content_len, 0);
    home_drop(r.message->home);
}

static void a_copy_shares_the_message(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct allm_home *home = home_new(mem_default(), 0);
    struct outcome o = outcome_failed(&a, "denied", "by %s", "me");
    struct tool_result r = result(o, true);
    r.error = o.kind == OUTCOME_FAILURE ? outcome_error(&a, &o, "t", "c0")
                                        : NULL;
    bool made = home && r.error && result_close(&r, SLICE("x"));
    const struct tool_result *copy = made ? result_copy(home, &r) : NULL;
    arena_release(&a);
    if (made)
        home_drop(r.message->home);
    if (copy) {
        CHECK(copy->message == r.message && copy->halts);
        CHECK_TEXT(copy->message->text, "x");
        CHECK_TEXT(copy->view.call->id, "c0");
        CHECK_TEXT(copy->outcome.detail, "by me");
        CHECK_ERROR(copy->error, ALLM_ERR_TOOL, "denied", "by me");
    }
    home_drop(home);
}

TESTS = {
    TEST(one_event_ends_a_call),
    TEST(halts_have_metadata),
    TEST(the_message_is_made_once),
    TEST(a_copy_shares_the_message),
    TESTS_END,
};
