/* test_encoder.c - results as the model gets them */
#include "tool/encoder.h"

#include "harness/check.h"
#include "harness/noun.h"

static void texts_stay_and_values_are_json(void)
{
    const struct {
        const char *value, *text;
    } rows[] = {
        { "'hi'", "hi" },          { "''", "" },
        { "{'a':1}", "{\"a\":1}" }, { "[1,2,3]", "[1,2,3]" },
        { "42", "42" },            { "true", "true" },
        { "null", "null" },        { "'a\\nb'", "a\nb" },
        { "1.5", "1.5" },          { "{}", "{}" },
    };
    for (int given = 0; given < 2; given++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct arena a;
            struct slice out = { "", 0 };
            const char *why;
            allm_json *v = noun_json(rows[i].value);
            arena_init(&a, mem_default());
            bool ok = v && encoder_value(given ? allm_encoder_json() : NULL, &a,
                                         v, &out, &why);
            CHECK(ok);
            CHECK_SLICE(out, slice_of(rows[i].text));
            arena_release(&a);
            allm_json_free(v);
        }
    }
}

/* What went wrong, in both styles. */
static void failures_have_two_styles(void)
{
    const struct {
        const char *why, *value, *reason, *detail;
        bool verbatim;
        const char *chat, *agent;
    } rows[] = {
        { "a text", "'no'", NULL, NULL, false, "{\"error\":\"no\"}",
          "Error: no" },
        { "a value", "{'a':'b'}", NULL, NULL, false,
          "{\"error\":\"{\\\"a\\\":\\\"b\\\"}\"}", "Error: {\"a\":\"b\"}" },
        { "a text of ours", "'Recipe evaluation error: x'", NULL, NULL, true,
          "{\"error\":\"Recipe evaluation error: x\"}",
          "Recipe evaluation error: x" },
        { "an exception", NULL, "handler_raised", "boom", false,
          "{\"error\":\"tool error (t): handler_raised: boom\"}",
          "Tool execution error: boom" },
        { "time is over", NULL, "timeout", "30 s", false,
          "{\"error\":\"tool error (t): timeout: 30 s\"}", "Error: 30 s" },
        { "not encoded: the cause alone", NULL, "encoding_failed", "oh no",
          false, "{\"error\":\"oh no\"}", "Error: oh no" },
        { "no words", NULL, "denied", NULL, false,
          "{\"error\":\"tool error (t): denied\"}",
          "Error: tool error (t): denied" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct slice chat = { "", 0 }, agent = chat;
        allm_json *v = rows[i].value ? noun_json(rows[i].value) : NULL;
        struct outcome o = {
            .kind = OUTCOME_FAILURE,
            .value = v,
            .reason = rows[i].value ? FAILURE_REPORTED : rows[i].reason,
            .detail = rows[i].detail,
            .verbatim = rows[i].verbatim,
        };
        arena_init(&a, mem_default());
        const allm_error *error = v || !rows[i].value
                                      ? outcome_error(&a, &o, "t", "c0")
                                      : NULL;
        check_row(rows[i].why);
        if (error) {
            CHECK(encoder_failure(NULL, ENCODER_CHAT, &a, &o, error, &chat));
            CHECK(encoder_failure(NULL, ENCODER_AGENT, &a, &o, error, &agent));
            CHECK_SLICE(chat, slice_of(rows[i].chat));
            CHECK_SLICE(agent, slice_of(rows[i].agent));
        }
        arena_release(&a);
        allm_json_free(v);
    }
}

static int how;

static void odd(void *self, const allm_json *value, bool is_error,
                allm_encoding *out)
{
    (void)self;
    (void)value;
    (void)is_error;
    if (how == 1)
        allm_encoding_text(out, NULL, 0);
    else if (how == 2)
        allm_encoding_fail(out, NULL);
    else if (how == 3) {
        allm_encoding_text(out, "first", 5);
        allm_encoding_text(out, "second", 6);
        allm_encoding_fail(out, "third");
    }
    allm_encoding_text(NULL, "", 0);
    allm_encoding_fail(NULL, "");
}

static void encoders_are_watched(void)
{
    const allm_encoder e = { .size = sizeof e, .encode = odd };
    static const char *const whys[] = {
        "the encoder set neither a text nor a reason",
        "the encoder passed NULL as its text", "no reason given", NULL,
    };
    for (how = 0; how < 4; how++) {
        struct arena a;
        struct slice out = { "", 0 };
        const char *why = NULL;
        allm_json *v = noun_json("1");
        arena_init(&a, mem_default());
        CHECK_INT(encoder_value(&e, &a, v, &out, &why), how == 3);
        CHECK_TEXT(why, whys[how]);
        if (how == 3)
            CHECK_SLICE(out, SLICE("first"));
        arena_release(&a);
        allm_json_free(v);
    }
}

TESTS = {
    TEST(texts_stay_and_values_are_json),
    TEST(failures_have_two_styles),
    TEST(encoders_are_watched),
    TESTS_END,
};
