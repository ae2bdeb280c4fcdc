/* test_arguments.c - are the arguments of a call valid for its tool? */
#include "tool/arguments.h"

#include "harness/check.h"
#include "harness/noun.h"

#define SCHEMA \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"

static void text_that_is_no_object_is_refused(void)
{
    const struct {
        const char *why, *args, *raw, *want, *words;
    } rows[] = {
        { "as they are", "{'n':1}", NULL, "{'n':1}", NULL },
        { "what was read counts, not the text", "{'n':1}", "x", "{'n':1}",
          NULL },
        { "read from the text", "{}", "{\"n\":2}", "{'n':2}", NULL },
        { "none at all", "{}", NULL, "{}", NULL },
        { "an empty text", "{}", "", "{}", NULL },
        { "white space", "{}", " \n\t", "{}", NULL },
        { "null", "{}", "null", "{}", NULL },
        { "cut off", "{}", "{\"n\":", NULL, "line 1" },
        { "an array", "{}", "[]", NULL, "the arguments are an array" },
        { "a number", "{}", "7", NULL, "the arguments are a number" },
        { "a text", "{}", "\"x\"", NULL, "the arguments are a string" },
    };
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "t", .description = "", .schema_text = SCHEMA));
    for (size_t i = 0; tool && i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        const allm_json *out = NULL;
        struct outcome why = { .kind = OUTCOME_NONE };
        allm_json *args = noun_json(rows[i].args);
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        bool ok = args &&
                  arguments_check(
                      &a,
                      ALLM(tool_call, .id = "c", .name = "t", .arguments = args,
                           .raw_arguments = rows[i].raw,
                           .raw_len = rows[i].raw ? strlen(rows[i].raw) : 0),
                      tool, false, &out, &why);
        CHECK(ok == (rows[i].want != NULL));
        if (ok)
            CHECK_VALUE(out, rows[i].want);
        if (!ok && why.kind == OUTCOME_FAILURE) {
            CHECK_TEXT(why.reason, "invalid_arguments");
            CHECK(strstr(why.detail, rows[i].words) != NULL);
            CHECK(strstr(why.detail, SCHEMA) != NULL);
        }
        arena_release(&a);
        allm_json_free(args);
    }
    allm_tool_free(tool);
}

/* Faults beyond the eighth are counted. */
static void faults_of_the_schema_are_reported(void)
{
    struct arena a;
    const allm_json *out;
    struct outcome why = { .kind = OUTCOME_NONE };
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "t", .description = "",
             .schema_text = "{\"additionalProperties\":{\"type\":\"null\"}}"));
    allm_json *args = noun_json("{'a':1,'b':1,'c':1,'d':1,'e':1,'f':1,'g':1,"
                                "'h':1,'i':1,'j':1}");
    arena_init(&a, mem_default());
    if (tool && args)
        CHECK(!arguments_check(
            &a, ALLM(tool_call, .id = "c", .name = "t", .arguments = args),
            tool, true, &out, &why));
    if (why.kind == OUTCOME_FAILURE) {
        CHECK(strstr(why.detail, "/a: ") && strstr(why.detail, "/h: "));
        CHECK(!strstr(why.detail, "/i: ") && strstr(why.detail, "and 2 more"));
    }
    arena_release(&a);
    allm_json_free(args);
    allm_tool_free(tool);
}

static void a_schema_that_is_wrong_checks_nothing(void)
{
    struct arena a;
    const allm_json *out;
    struct outcome why;
    allm_tool *tool =
        allm_tool_new(ALLM(tool, .name = "t", .description = "",
                           .schema_text = "{\"type\":\"nothing\"}"));
    allm_json *args = noun_json("{}");
    arena_init(&a, mem_default());
    if (tool && args)
        CHECK(arguments_check(
            &a, ALLM(tool_call, .id = "c", .name = "t", .arguments = args),
            tool, true, &out, &why));
    arena_release(&a);
    allm_json_free(args);
    allm_tool_free(tool);
}

TESTS = {
    TEST(text_that_is_no_object_is_refused),
    TEST(faults_of_the_schema_are_reported),
    TEST(a_schema_that_is_wrong_checks_nothing),
    TESTS_END,
};
