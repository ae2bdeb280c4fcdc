/* test_engine_record.c - an engine as plain data */
#include "data/engine_record.h"

#include "harness/noun.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_engine_record *e = allm_engine_record_new(NULL);
    CHECK_WELL(allm_engine_record_error(e));
    CHECK_JSON(allm_engine_record_json(e, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Engine','data':{'adapter':null,"
               "'adapter_opts':[],'model':null,'tools':[],"
               "'tool_executor':null,'tool_result_encoder':null,"
               "'image_adapter':null,'params':{},'context':{},"
               "'retry':'default','middleware':[],'metadata':{}}}");
    allm_engine_record_free(e);
}

static void keeps_every_field(void)
{
    const allm_tool *tool = ALLM(tool, .name = "t", .description = "d",
                                 .schema_text = "{}");
    allm_json *opts = noun_json("[['a',1]]"), *params = noun_json("{'p':1}");
    allm_json *context = noun_json("{'c':1}"), *retry = noun_json("false");
    allm_json *middleware = noun_json("[]"), *metadata = noun_json("{'m':1}");
    allm_json *kept = noun_json("{'k':2}");
    allm_engine_record *e = allm_engine_record_new(
        ALLM(engine_record, .id = "i", .adapter = "Elixir.ALLM.Fake",
             .adapter_opts = opts, .model = "m", .tools = &tool,
             .tool_count = 1, .tool_executor = "x", .tool_result_encoder = "y",
             .image_adapter = "z", .params = params, .context = context,
             .retry = retry, .middleware = middleware, .metadata = metadata,
             .kept = kept));
    allm_json_free(opts);
    allm_json_free(params);
    allm_json_free(context);
    allm_json_free(retry);
    allm_json_free(middleware);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK_WELL(allm_engine_record_error(e));
    CHECK_TEXT(GET(e, id), "i");
    CHECK_TEXT(GET(e, adapter), "Elixir.ALLM.Fake");
    CHECK_VALUE(GET(e, retry), "false");
    CHECK_JSON(allm_engine_record_json(e, ALLM_FORM_PLAIN),
               "{'adapter':'Elixir.ALLM.Fake','adapter_opts':[['a',1]],"
               "'model':'m','tools':[{'name':'t','description':'d',"
               "'schema':{},'handler':null,'manual':false,'metadata':{}}],"
               "'tool_executor':'x','tool_result_encoder':'y',"
               "'image_adapter':'z','params':{'p':1},'context':{'c':1},"
               "'retry':false,'middleware':[],'metadata':{'m':1},'id':'i',"
               "'k':2}");
    allm_engine_record_free(e);
}

static void run_nothing(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)run;
    (void)args;
    (void)ud;
}

static void an_engine_with_functions_cannot_be_stored(void)
{
    const allm_tool *tool = ALLM(tool, .name = "t", .description = "d",
                                 .schema_text = "{}", .call = run_nothing);
    allm_engine_record *e = allm_engine_record_new(
        ALLM(engine_record, .tools = &tool, .tool_count = 1));
    allm_text *t = allm_engine_record_json(e, ALLM_FORM_TAGGED);
    CHECK_MISUSE(allm_text_error(t), "not_serializable", "tool \"t\"");
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    allm_text_free(t);
    allm_engine_record_free(e);
}

static void refuses_what_does_not_fit(void)
{
    allm_json *list = noun_json("[]");
    allm_engine_record *e =
        allm_engine_record_new(ALLM(engine_record, .params = list));
    if (list)
        CHECK_MISUSE(allm_engine_record_error(e), "wrong_type",
                     "allm_engine_record: params must be a JSON object");
    allm_engine_record_free(e);
    allm_json *word = noun_json("'word'");
    e = allm_engine_record_new(ALLM(engine_record, .adapter_opts = word));
    if (word)
        CHECK_MISUSE(allm_engine_record_error(e), "wrong_type",
                     "adapter_opts must be a JSON object or a list");
    allm_engine_record_free(e);
    allm_json_free(word);
    e = allm_engine_record_new(&(allm_engine_record){ .id = "x" });
    CHECK_MISUSE(allm_engine_record_error(e), "struct_size",
                 "allm_engine_record");
    allm_engine_record_free(e);
    allm_json_free(list);
}

static void sizes(void)
{
    static const allm_engine_record full = { .adapter = "a", .model = "m" };
    allm_engine_record *older = noun_sized(&full, sizeof full,
                                           offsetof(allm_engine_record, model));
    allm_engine_record *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_engine_record *a = allm_engine_record_new(older);
    allm_engine_record *b = allm_engine_record_new(newer);
    CHECK_TEXT(GET(a, adapter), "a");
    CHECK(!GET(a, model));
    CHECK_TEXT(GET(b, model), "m");
    allm_engine_record_free(a);
    allm_engine_record_free(b);
    free(older);
    free(newer);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_engine_record_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_engine_record_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_engine_record_free(NULL);
}

#define TRIP(retry) TRIP_WITH("[['k',1]]", retry)
#define TRIP_WITH(opts, retry) \
    "{'adapter':'a','adapter_opts':" opts ",'model':null,'tools':[]," \
    "'tool_executor':null,'tool_result_encoder':null,'image_adapter':null," \
    "'params':{},'context':{},'retry':" retry ",'middleware':[]," \
    "'metadata':{}}"

static void comes_back_from_json(void)
{
    CHECK_TRIP("Engine", TRIP("'default'"), TRIP("'default'"));
    CHECK_TRIP("Engine", TRIP("null"), TRIP("'default'"));
    CHECK_TRIP("Engine", TRIP("false"), TRIP("false"));
    CHECK_TRIP("Engine", TRIP("[['max_attempts',5]]"),
               TRIP("[['max_attempts',5]]"));
}

/* An object says the same as a list of pairs, which is how it is written. */
static void options_come_back_from_an_object(void)
{
    CHECK_TRIP("Engine", TRIP_WITH("{'k':1,'base_url':'x'}", "'default'"),
               TRIP_WITH("[['k',1],['base_url','x']]", "'default'"));
    CHECK_TRIP("Engine", TRIP_WITH("{}", "'default'"),
               TRIP_WITH("[]", "'default'"));
    CHECK_TRIP("Engine", TRIP_WITH("null", "'default'"),
               TRIP_WITH("[]", "'default'"));
}

static void members_find_their_places(void)
{
    allm_codec *c = noun_read("Engine", TRIP("'default'"));
    const allm_engine_record *e = allm_codec_value(c, ALLM_TYPE_ENGINE);
    CHECK(!GET(e, retry) && !GET(e, kept));
    CHECK_VALUE(GET(e, adapter_opts), "[['k',1]]");
    allm_codec_free(c);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(an_engine_with_functions_cannot_be_stored),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(nothing_is_accepted),
    TEST(comes_back_from_json),
    TEST(options_come_back_from_an_object),
    TEST(members_find_their_places),
    TESTS_END
};
