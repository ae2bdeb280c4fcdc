/* test_outcome.c - how a tool call ended */
#include "tool/outcome.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "json/build.h"

static void the_library_has_nine_words(void)
{
    CHECK(outcome_reserved("ask_user") && outcome_reserved("budget"));
    CHECK(outcome_reserved("error") && outcome_reserved("manual_tool_calls"));
    CHECK(!outcome_reserved("done") && !outcome_reserved("") &&
          !outcome_reserved("ask"));
}

static void halts_need_a_word_of_their_own(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct outcome o = outcome_halt(&a, "done", NULL);
    CHECK_INT(o.kind, OUTCOME_HALT);
    CHECK_VALUE(o.value, "null");
    static const char *const wrong[] = { NULL, "", "completed" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o = outcome_halt(&a, wrong[i], NULL);
        CHECK_INT(o.kind, OUTCOME_FAILURE);
        CHECK_TEXT(o.reason, "invalid_return");
    }
    CHECK_VALUE(o.metadata, "{'reserved_halt_atom':'completed'}");
    arena_release(&a);
}

static void every_kind_has_a_json_form(void)
{
    allm_json *v = noun_json("{'x':1}");
    const struct {
        struct outcome o;
        const char *json;
    } rows[] = {
        { { .kind = OUTCOME_RESULT, .value = v }, "{'ok':{'x':1}}" },
        { outcome_reported(v), "{'error':{'x':1}}" },
        { { .kind = OUTCOME_HALT, .reason = "r", .value = v },
          "{'halt':['r',{'x':1}]}" },
        { outcome_question("q?", v), "{'ask_user':'q?','opts':{'x':1}}" },
        { outcome_question("q?", NULL), "{'ask_user':'q?','opts':{}}" },
        { { .kind = OUTCOME_FAILURE, .reason = "denied" },
          "{'error':{'kind':'tool','reason':'denied',"
          "'message':'tool error (t): denied','tool_name':'t',"
          "'tool_call_id':'c','cause':null,"
          "'metadata':{}}}" },
    };
    for (size_t i = 0; v && i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        const allm_error *error = NULL;
        bool failed = rows[i].o.kind == OUTCOME_FAILURE;
        if (failed)
            error = outcome_error(&a, &rows[i].o, "t", "c");
        if (error || !failed)
            CHECK_VALUE(outcome_json(&a, &rows[i].o, error), rows[i].json);
        arena_release(&a);
    }
    allm_json_free(v);
}

static void errors_tell_who_and_why(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct outcome o = outcome_failed(&a, "timeout", "after %d ms", 5);
    const allm_error *e = o.kind == OUTCOME_FAILURE
                              ? outcome_error(&a, &o, "t", "c")
                              : NULL;
    if (e) {
        CHECK_TEXT(e->message, "tool error (t): timeout: after 5 ms");
        CHECK_VALUE(e->cause, "'after 5 ms'");
    }
    e = outcome_error(
        &a, &(struct outcome){ .kind = OUTCOME_FAILURE,
                                             .reason = "denied" },
        NULL, NULL);
    if (e)
        CHECK_TEXT(e->message, "tool error: denied");
    allm_json *v = noun_json("''");
    if (v)
        o = outcome_reported(v);
    e = v ? outcome_error(&a, &o, "t", "c") : NULL;
    if (e) {
        CHECK_TEXT(e->reason, "handler_failed");
        CHECK_TEXT(e->message, "the tool failed and gave no reason");
    }
    allm_json_free(v);
    arena_release(&a);
}

static void halts_have_a_reason(void)
{
    allm_json *v = noun_json("{'x':1}");
    const struct {
        struct outcome o;
        const char *reason;
    } rows[] = {
        { outcome_question("q?", NULL), "ask_user" },
        { outcome_from_halt("done", v), "done" },
        { outcome_from_halt("tool_error", v), "tool_error" },
        { { .kind = OUTCOME_FAILURE, .reason = "timeout" }, "tool_error" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(outcome_halted_reason(&rows[i].o), rows[i].reason);
    CHECK_INT(rows[1].o.kind, OUTCOME_HALT);
    CHECK_INT(rows[2].o.kind, OUTCOME_FAILURE);
    CHECK_ALWAYS(rows[2].o.value == v);
    CHECK_INT(outcome_reported(NULL).kind, OUTCOME_NOMEM);
    allm_json_free(v);
}

static void a_copy_outlives_its_source(void)
{
    struct arena from, to;
    arena_init(&from, mem_default());
    arena_init(&to, mem_default());
    struct outcome o = outcome_failed(&from, "denied", "by %s", "me");
    o.metadata = build_alone(&from, SLICE("meta"));
    struct outcome copy = outcome_copy(&to, &o);
    bool whole = o.kind == OUTCOME_FAILURE && o.metadata && !to.broken;
    arena_release(&from);
    if (whole) {
        CHECK_INT(copy.kind, OUTCOME_FAILURE);
        CHECK_TEXT(copy.reason, "denied");
        CHECK_TEXT(copy.detail, "by me");
        CHECK_VALUE(copy.metadata, "'meta'");
        CHECK(!copy.value && !copy.question && !copy.opts);
    }
    arena_release(&to);
}

TESTS = {
    TEST(the_library_has_nine_words),
    TEST(halts_need_a_word_of_their_own),
    TEST(every_kind_has_a_json_form),
    TEST(errors_tell_who_and_why),
    TEST(halts_have_a_reason),
    TEST(a_copy_outlives_its_source),
    TESTS_END,
};
