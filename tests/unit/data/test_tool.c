/* test_tool.c - tools that a model may call */
#include "data/tool.h"

#include "harness/noun.h"

#include <stdlib.h>

static void run_nothing(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)run;
    (void)args;
    (void)ud;
}

/* name, description and schema, as each tool needs them. */
#define WEATHER .name = "weather", .description = "weather by city", \
                .schema_text = "{\"type\":\"object\"}"

static void has_defaults(void)
{
    allm_tool *t = allm_tool_new(ALLM(tool, WEATHER));
    CHECK_WELL(allm_tool_error(t));
    CHECK_TEXT(GET(t, name), "weather");
    CHECK_TEXT(GET(t, description), "weather by city");
    CHECK_VALUE(GET(t, schema), "{'type':'object'}");
    if (t)                          /* whole or not at all */
        CHECK_ALWAYS(t->name && t->description && t->schema);
    CHECK(!GET(t, schema_text) && !GET(t, call) && !GET(t, ud));
    CHECK(!GET(t, manual) && !GET(t, compact) && !GET(t, summary));
    CHECK_INT(GET(t, effect), ALLM_EFFECT_WRITE);
    CHECK(!GET(t, metadata) && !GET(t, kept));
    allm_tool_free(t);
}

static void keeps_every_field(void)
{
    int place;
    allm_json *schema = noun_json("{'type':'object','required':['a']}");
    allm_json *metadata = noun_json("{'m':1}"), *kept = noun_json("{'k':2}");
    allm_tool *t = allm_tool_new(
        ALLM(tool, .name = "n", .description = "d", .schema = schema,
             .call = run_nothing, .ud = &place, .manual = 1, .compact = 1,
             .effect = ALLM_EFFECT_PURE, .summary = "s", .metadata = metadata,
             .kept = kept));
    allm_json_free(schema);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK_WELL(allm_tool_error(t));
    CHECK_VALUE(GET(t, schema), "{'type':'object','required':['a']}");
    CHECK(t && t->call == run_nothing && t->ud == &place);
    CHECK_INT(GET(t, manual), 1);
    CHECK_INT(GET(t, compact), 1);
    CHECK_INT(GET(t, effect), ALLM_EFFECT_PURE);
    CHECK_TEXT(GET(t, summary), "s");
    CHECK_VALUE(GET(t, metadata), "{'m':1}");
    CHECK_VALUE(GET(t, kept), "{'k':2}");
    allm_tool_free(t);
}

static void refused(const allm_tool *given, const char *reason,
                    const char *words)
{
    allm_tool *t = allm_tool_new(given);
    CHECK_MISUSE(allm_tool_error(t), reason, words);
    CHECK(!GET(t, name) && !GET(t, schema) && !GET(t, call));
    allm_tool_free(t);
}

static void refuses_what_lacks_something(void)
{
    allm_json *broken = allm_json_parse("{", 1, NULL);
    refused(NULL, "missing_field", "name is missing");
    refused(ALLM(tool, .description = "d", .schema_text = "{}"),
            "missing_field", "allm_tool_new: name is missing");
    refused(ALLM(tool, .name = "n", .schema_text = "{}"), "missing_field",
            "description is missing");
    refused(ALLM(tool, .name = "n", .description = "d", .call = run_nothing),
            "missing_field", "schema is missing");
    refused(ALLM(tool, .name = "n", .description = "d",
                 .schema_text = "{\"a\":}"),
            "invalid_schema", "schema_text of tool \"n\" is not JSON");
    refused(ALLM(tool, .description = "d", .schema_text = "x"),
            "invalid_schema", "schema_text of tool \"\" is not JSON");
    if (broken)
        refused(ALLM(tool, .name = "n", .description = "d", .schema = broken),
                "broken_json", "schema is a JSON document that was refused");
    refused(&(allm_tool){ WEATHER }, "struct_size",
            "allm_tool: the struct has no size");
    allm_json_free(broken);
}

static void constructors_do_not_validate(void)
{
    allm_tool *t = allm_tool_new(ALLM(tool, .name = "no such name!",
                                      .description = "", .schema_text = "42"));
    CHECK_WELL(allm_tool_error(t));
    CHECK_VALUE(GET(t, schema), "42");
    allm_tool_free(t);
}

static void the_schema_wins_over_its_text(void)
{
    allm_json *schema = noun_json("{'a':1}");
    allm_tool *t = allm_tool_new(ALLM(tool, .name = "n", .description = "d",
                                      .schema = schema,
                                      .schema_text = "not looked at"));
    CHECK_VALUE(GET(t, schema), "{'a':1}");
    allm_tool_free(t);
    allm_json_free(schema);
}

static void sizes(void)
{
    static const allm_tool full = { WEATHER, .manual = 1 };
    allm_tool *older = noun_sized(&full, sizeof full,
                                  offsetof(allm_tool, call));
    allm_tool *newer = noun_sized(&full, sizeof full, sizeof full + 32);
    allm_tool *a = allm_tool_new(older), *b = allm_tool_new(newer);
    CHECK_WELL(allm_tool_error(a));
    CHECK_WELL(allm_tool_error(b));
    CHECK_INT(GET(a, manual), 0);
    CHECK_INT(GET(b, manual), 1);
    allm_tool_free(a);
    allm_tool_free(b);
    free(older);
    free(newer);
}

static void a_function_has_no_tagged_form(void)
{
    allm_tool *t = allm_tool_new(ALLM(tool, WEATHER, .call = run_nothing,
                                      .effect = ALLM_EFFECT_IDEMPOTENT));
    allm_text *json = allm_tool_json(t, ALLM_FORM_TAGGED);
    CHECK_MISUSE(allm_text_error(json), "not_serializable",
                 "tool \"weather\" has a function");
    allm_text_free(json);
    CHECK_JSON(allm_tool_json(t, ALLM_FORM_PLAIN),
               "{'name':'weather','description':'weather by city',"
               "'schema':{'type':'object'},'handler':null,'manual':false,"
               "'metadata':{},'effect':'idempotent'}");
    allm_tool_free(t);
    t = allm_tool_new(ALLM(tool, WEATHER));
    CHECK_JSON(allm_tool_json(t, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Tool','data':{'name':'weather',"
               "'description':'weather by city','schema':{'type':'object'},"
               "'handler':null,'manual':false,'metadata':{}}}");
    allm_tool_free(t);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_tool_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_tool_error(NULL), ALLM_ERR_NOMEM, "out_of_memory", NULL);
    allm_tool_free(NULL);
}

static void comes_back_from_json(void)
{
    static const struct {
        const char *why, *json, *want;
    } rows[] = {
        { "a null schema is {}", "{'name':'n','schema':null,'manual':null}",
          "{'name':'n','description':null,'schema':{},'handler':null,"
          "'manual':false,'metadata':{}}" },
        { "so is none", "{'name':'n'}",
          "{'name':'n','description':null,'schema':{},'handler':null,"
          "'manual':false,'metadata':{}}" },
        { "a handler of somebody else is kept",
          "{'name':'n','schema':[1],'handler':'f','manual':'x'}",
          "{'name':'n','description':null,'schema':[1],'handler':'f',"
          "'manual':'x','metadata':{}}" },
        { "what later versions brought",
          "{'name':'n','description':'d','schema':{},'handler':null,"
          "'manual':true,'metadata':{},'compact':true,'summary':'s',"
          "'effect':'pure'}",
          "{'name':'n','description':'d','schema':{},'handler':null,"
          "'manual':true,'metadata':{},'compact':true,'summary':'s',"
          "'effect':'pure'}" },
        { "and will bring",
          "{'name':'n','description':'d','schema':{},'handler':null,"
          "'manual':false,'metadata':{},'effect':'sometimes'}",
          "{'name':'n','description':'d','schema':{},'handler':null,"
          "'manual':false,'metadata':{},'effect':'sometimes'}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TRIP("Tool", rows[i].json, rows[i].want);
    }
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(refuses_what_lacks_something),
    TEST(constructors_do_not_validate),
    TEST(the_schema_wins_over_its_text),
    TEST(sizes),
    TEST(a_function_has_no_tagged_form),
    TEST(nothing_is_accepted),
    TEST(comes_back_from_json),
    TESTS_END
};
