/* test_tool_call.c - a call of a tool by a model */
#include "data/tool_call.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_json *city = noun_json("{'city':'SFO'}");
    allm_tool_call *c = allm_tool_call_new(
        ALLM(tool_call, .id = "call_1", .name = "weather", .arguments = city));
    allm_json_free(city);
    CHECK_WELL(allm_tool_call_error(c));
    CHECK_TEXT(GET(c, id), "call_1");
    CHECK_TEXT(GET(c, name), "weather");
    CHECK_VALUE(GET(c, arguments), "{'city':'SFO'}");
    CHECK(!GET(c, raw_arguments) && !GET(c, metadata) && !GET(c, kept));
    CHECK(!GET(c, provider_state));
    CHECK_JSON(allm_tool_call_json(c, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.ToolCall','data':{'id':'call_1',"
               "'name':'weather','arguments':{'city':'SFO'},"
               "'raw_arguments':null,'metadata':{}}}");
    allm_tool_call_free(c);
}

static void keeps_every_field(void)
{
    allm_json *args = noun_json("{}"), *metadata = noun_json("{'m':1}");
    allm_json *state = noun_json("'s'"), *kept = noun_json("{'k':2}");
    allm_tool_call *c = allm_tool_call_new(
        ALLM(tool_call, .id = "", .name = "", .arguments = args,
             .raw_arguments = "{\0}", .raw_len = 3, .metadata = metadata,
             .provider_state = state, .kept = kept));
    allm_json_free(args);
    allm_json_free(metadata);
    allm_json_free(state);
    allm_json_free(kept);
    struct slice raw = { GET(c, raw_arguments), GET(c, raw_len) };
    CHECK_WELL(allm_tool_call_error(c));
    CHECK_TEXT(GET(c, id), "");         /* empty is not missing */
    CHECK_TEXT(GET(c, name), "");
    CHECK_SLICE(raw, SLICE("{\0}"));
    CHECK_VALUE(GET(c, metadata), "{'m':1}");
    CHECK_VALUE(GET(c, provider_state), "'s'");
    CHECK_VALUE(GET(c, kept), "{'k':2}");
    allm_tool_call_free(c);
}

static void refused(const allm_tool_call *given, const char *reason,
                    const char *words)
{
    allm_tool_call *c = allm_tool_call_new(given);
    CHECK_MISUSE(allm_tool_call_error(c), reason, words);
    CHECK(!GET(c, id) && !GET(c, name) && !GET(c, arguments));
    allm_tool_call_free(c);
}

static void refuses_what_lacks_something(void)
{
    allm_json *args = noun_json("{}"), *list = noun_json("[1]");
    allm_json *null = noun_json("null");
    refused(NULL, "missing_field", "id is missing");
    refused(ALLM(tool_call, .name = "n", .arguments = args), "missing_field",
            "allm_tool_call_new: id is missing");
    refused(ALLM(tool_call, .id = "i", .arguments = args), "missing_field",
            "name is missing");
    refused(ALLM(tool_call, .id = "i", .name = "n"), "missing_field",
            "arguments is missing");
    refused(ALLM(tool_call, .id = "i", .name = "n", .arguments = null),
            "missing_field", "arguments is missing");
    if (list)
        refused(ALLM(tool_call, .id = "i", .name = "n", .arguments = list),
                "wrong_type", "arguments must be a JSON object");
    refused(&(allm_tool_call){ .id = "i", .name = "n", .arguments = args },
            "struct_size", "allm_tool_call: the struct has no size");
    allm_json_free(args);
    allm_json_free(list);
    allm_json_free(null);
}

static void sizes(void)
{
    allm_json *args = noun_json("{}");
    allm_tool_call full = { .id = "i", .name = "n", .arguments = args,
                            .raw_arguments = "{}" };
    allm_tool_call *older = noun_sized(&full, sizeof full,
                                       offsetof(allm_tool_call, raw_len));
    allm_tool_call *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_tool_call *a = allm_tool_call_new(older);
    allm_tool_call *b = allm_tool_call_new(newer);
    CHECK_WELL(allm_tool_call_error(a));
    CHECK_WELL(allm_tool_call_error(b));
    CHECK(!GET(a, raw_arguments));
    CHECK_TEXT(GET(b, raw_arguments), "{}");
    allm_tool_call_free(a);
    allm_tool_call_free(b);
    free(older);
    free(newer);
    allm_json_free(args);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_tool_call_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_tool_call_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_tool_call_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(refuses_what_lacks_something),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TESTS_END
};
