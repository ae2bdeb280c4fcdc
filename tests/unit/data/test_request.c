/* test_request.c - requests to a model */
#include "data/request.h"

#include "harness/noun.h"

#include <stdlib.h>

static allm_message *user(const char *text)
{
    return allm_message_from_text(ALLM_ROLE_USER, text);
}

static void has_defaults(void)
{
    allm_message *m = user("hi");
    const allm_message *list[] = { m };
    allm_request *r =
        allm_request_new(ALLM(request, .messages = list, .message_count = 1));
    CHECK_WELL(allm_request_error(r));
    CHECK_INT(GET(r, message_count), 1);
    CHECK(!GET(r, stream) && !GET(r, tool_count) && !GET(r, tools));
    CHECK(!GET(r, model) && !GET(r, model_ref) && !GET(r, tool_choice));
    CHECK(!r || (!r->temperature.set && !r->max_tokens.set));
    CHECK(!GET(r, structured_finalize) && !GET(r, response_format));
    CHECK_JSON(allm_request_json(r, ALLM_FORM_PLAIN),
               "{'messages':[{'role':'user','content':'hi','name':null,"
               "'tool_call_id':null,'metadata':{}}],'model':null,'tools':[],"
               "'tool_choice':null,'temperature':null,'max_tokens':null,"
               "'stream':false,'response_format':null,"
               "'structured_finalize':false,'options':{},'metadata':{}}");
    allm_request_free(r);
    allm_message_free(m);
}

static void keeps_every_field(void)
{
    const allm_message *m = ALLM(message, .role = ALLM_ROLE_USER, .text = "hi");
    const allm_tool *tool = ALLM(tool, .name = "t", .description = "d",
                                 .schema_text = "{}");
    allm_json *format = noun_json("{'type':'json_object'}");
    allm_json *options = noun_json("{'o':1}"), *kept = noun_json("{'k':2}");
    allm_json *metadata = noun_json("{'m':3}");
    allm_request *r = allm_request_new(
        ALLM(request, .messages = &m, .message_count = 1, .model = "fake:x",
             .tools = &tool, .tool_count = 1, .tool_choice = "auto",
             .temperature = ALLM_NUM(0.2), .max_tokens = ALLM_NUM(100),
             .stream = 1, .structured_finalize = 1, .response_format = format,
             .options = options, .metadata = metadata, .kept = kept));
    allm_json_free(format);
    allm_json_free(options);
    allm_json_free(metadata);
    allm_json_free(kept);
    CHECK_WELL(allm_request_error(r));
    CHECK_TEXT(GET(r, model), "fake:x");
    CHECK(r && r->temperature.set && r->temperature.value == 0.2);
    CHECK(r && r->tools && r->tools[0]->schema);
    CHECK_JSON(allm_request_json(r, ALLM_FORM_PLAIN),
               "{'messages':[{'role':'user','content':'hi','name':null,"
               "'tool_call_id':null,'metadata':{}}],'model':'fake:x',"
               "'tools':[{'name':'t','description':'d','schema':{},"
               "'handler':null,'manual':false,'metadata':{}}],"
               "'tool_choice':'auto','temperature':0.2,'max_tokens':100,"
               "'stream':true,'response_format':{'type':'json_object'},"
               "'structured_finalize':true,'options':{'o':1},"
               "'metadata':{'m':3},'k':2}");
    allm_request_free(r);
}

static void a_model_and_a_choice_have_two_shapes(void)
{
    const allm_message *none = NULL;
    allm_json *map = noun_json("{'type':'tool','name':'t'}");
    const allm_model_ref *ref = ALLM(model_ref, .provider = "p", .id = "i");
    allm_request *r = allm_request_new(ALLM(
        request, .messages = &none, .model_ref = ref, .tool_choice_map = map));
    const allm_model_ref *mine = GET(r, model_ref);
    CHECK(mine != ref);
    CHECK_TEXT(GET(mine, id), "i");
    CHECK_VALUE(GET(r, tool_choice_map), "{'type':'tool','name':'t'}");
    CHECK_JSON(allm_request_json(r, ALLM_FORM_PLAIN),
               "{'messages':[],'model':{'provider':'p','id':'i',"
               "'capabilities':null,'limits':null,'pricing':null,"
               "'metadata':{}},'tools':[],"
               "'tool_choice':{'type':'tool','name':'t'},"
               "'temperature':null,'max_tokens':null,'stream':false,"
               "'response_format':null,'structured_finalize':false,"
               "'options':{},'metadata':{}}");
    allm_request_free(r);
    allm_json_free(map);
}

static void refused(const allm_request *given, const char *reason,
                    const char *words)
{
    allm_request *r = allm_request_new(given);
    CHECK_MISUSE(allm_request_error(r), reason, words);
    CHECK(!GET(r, messages) && !GET(r, message_count) && !GET(r, model));
    allm_request_free(r);
}

static void refuses_what_lacks_something(void)
{
    const allm_message *m = ALLM(message, .role = ALLM_ROLE_USER, .text = "hi");
    const allm_message *hole[] = { m, NULL };
    const allm_tool *none = NULL;
    refused(NULL, "missing_field", "allm_request_new: messages is missing");
    refused(ALLM(request, .model = "x"), "missing_field", "messages");
    refused(ALLM(request, .message_count = 2), "missing_list",
            "messages is NULL, but its count is 2");
    refused(ALLM(request, .messages = hole, .message_count = 2), "null_element",
            "element 1 of messages is NULL");
    refused(ALLM(request, .messages = &m, .message_count = 1, .tools = &none,
                 .tool_count = 1),
            "null_element", "element 0 of tools is NULL");
    refused(&(allm_request){ .messages = &m, .message_count = 1 },
            "struct_size", "allm_request: the struct has no size");
}

static void an_explicit_empty_list_counts(void)
{
    const allm_message *none = NULL;
    const allm_tool *no_tool = NULL;
    allm_request *r =
        allm_request_new(ALLM(request, .messages = &none, .tools = &no_tool));
    CHECK_WELL(allm_request_error(r));
    CHECK(GET(r, messages) && !GET(r, message_count));
    CHECK(GET(r, tools) && !GET(r, tool_count));
    allm_request_free(r);
}

static void sizes(void)
{
    const allm_message *m = ALLM(message, .role = ALLM_ROLE_USER, .text = "hi");
    allm_request full = { .messages = &m, .message_count = 1, .model = "x",
                          .stream = 1 };
    allm_request *older = noun_sized(&full, sizeof full,
                                     offsetof(allm_request, tools));
    allm_request *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    allm_request *a = allm_request_new(older), *b = allm_request_new(newer);
    CHECK_WELL(allm_request_error(a));
    CHECK_WELL(allm_request_error(b));
    CHECK_TEXT(GET(a, model), "x");
    CHECK_INT(GET(a, stream), 0);
    CHECK_INT(GET(b, stream), 1);
    allm_request_free(a);
    allm_request_free(b);
    free(older);
    free(newer);
}

/* For an older struct no room is planned, so that each step may fail. */
static void shares_every_message_or_none(void)
{
    enum { MANY = 40 };
    allm_message *m = user("hi");
    const allm_message *list[MANY];
    for (size_t i = 0; i < MANY; i++)
        list[i] = m;
    allm_request full = { .messages = list, .message_count = MANY };
    allm_request *older = noun_sized(&full, sizeof full,
                                     offsetof(allm_request, tools));
    allm_request *r = m ? allm_request_new(older) : NULL;
    allm_message_free(m);
    if (r) {
        CHECK_ALWAYS(!allm_request_error(r) && r->message_count == MANY);
        CHECK_ALWAYS(r->messages[MANY - 1] == list[0]);
        CHECK_ALWAYS(!strcmp(r->messages[MANY - 1]->text, "hi"));
    }
    allm_request_free(r);
    free(older);
}

/* ---------------------------------------------------------- from thread --- */

static void takes_the_messages_of_a_thread(void)
{
    const allm_message *other = ALLM(message, .role = ALLM_ROLE_USER,
                                     .text = "not this one");
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_SYSTEM, "a");
    allm_thread_add(t, ALLM_ROLE_USER, "b");
    allm_request *bare = allm_request_from_thread(t, NULL);
    allm_request *full = allm_request_from_thread(
        t, ALLM(request, .model = "x", .messages = &other, .message_count = 1));
    CHECK_WELL(allm_request_error(bare));
    CHECK_WELL(allm_request_error(full));
    CHECK_INT(GET(bare, message_count), 2);
    CHECK_INT(GET(full, message_count), 2);
    CHECK_TEXT(GET(full, model), "x");
    if (full)                       /* whole or not at all */
        CHECK_ALWAYS(full->model &&
                     full->message_count == allm_thread_count(t));
    CHECK(full && full->messages && full->messages[1] == allm_thread_at(t, 1));
    allm_thread_free(t);
    CHECK_TEXT(GET(bare, message_count) == 2 ? bare->messages[1]->text : NULL,
               "b");
    allm_request_free(bare);
    allm_request_free(full);
}

static void takes_the_fields_of_a_request_of_ours(void)
{
    const allm_message *none = NULL;
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "b");
    allm_request *old =
        allm_request_new(ALLM(request, .messages = &none, .model = "x"));
    allm_request *r = allm_request_from_thread(t, old);
    CHECK(r != old);
    CHECK_TEXT(GET(r, model), "x");
    CHECK_INT(GET(r, message_count), 1);
    if (old)
        CHECK_ALWAYS(old->message_count == 0);
    allm_request_free(r);
    allm_request_free(old);
    allm_thread_free(t);
}

static void an_empty_thread_makes_an_empty_request(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_request *r = allm_request_from_thread(t, NULL);
    CHECK_WELL(allm_request_error(r));
    CHECK_INT(GET(r, message_count), 0);
    allm_request_free(r);
    allm_thread_free(t);
}

static void structs_of_other_versions_take_a_thread_too(void)
{
    static const allm_request full = { .model = "x" };
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "b");
    static const size_t sizes_[] = {
        16, offsetof(allm_request, model_ref), sizeof full, sizeof full + 24,
    };
    for (size_t i = 0; i < 4; i++) {
        allm_request *given = noun_sized(&full, sizeof full, sizes_[i]);
        allm_request *r = allm_request_from_thread(t, given);
        CHECK_WELL(allm_request_error(r));
        CHECK_INT(GET(r, message_count), 1);
        CHECK_TEXT(GET(r, model), i ? "x" : NULL);
        allm_request_free(r);
        free(given);
    }
    allm_thread_free(t);
}

static void tells_what_is_wrong_with_either(void)
{
    allm_json *list = noun_json("[]");
    allm_thread *good = allm_thread_new(NULL);
    allm_thread *bad = allm_thread_new(ALLM(thread_opts, .metadata = list));
    allm_request *refusal = allm_request_new(NULL);
    allm_request *r = allm_request_from_thread(bad, NULL);
    if (list)
        CHECK_MISUSE(allm_request_error(r), "invalid_metadata", "metadata");
    allm_request_free(r);
    r = allm_request_from_thread(good, &(allm_request){ .model = "x" });
    CHECK_MISUSE(allm_request_error(r), "struct_size", "has no size");
    allm_request_free(r);
    r = allm_request_from_thread(good, refusal);
    if (refusal)
        CHECK_MISUSE(allm_request_error(r), "missing_field", "messages");
    allm_request_free(r);
    allm_request_free(refusal);
    allm_thread_free(good);
    allm_thread_free(bad);
    allm_json_free(list);
}

/* ---------------------------------------------------------- json_schema --- */

static void makes_a_response_format(void)
{
    allm_json *schema = noun_json("{'type':'object'}");
    allm_json *strict = allm_request_json_schema("person", schema, true);
    allm_json *loose = allm_request_json_schema("person", schema, false);
    allm_json_free(schema);
    CHECK_VALUE(strict, "{'type':'json_schema','name':'person',"
                        "'schema':{'type':'object'},'strict':true}");
    CHECK_VALUE(loose, "{'type':'json_schema','name':'person',"
                       "'schema':{'type':'object'},'strict':false}");
    if (strict && schema)           /* whole or not at all */
        CHECK_ALWAYS(allm_json_count(strict) == 4);
    allm_json_free(strict);
    allm_json_free(loose);
}

static void a_response_format_needs_name_and_schema(void)
{
    allm_json *schema = noun_json("{}");
    allm_json *broken = allm_json_parse("{", 1, NULL);
    allm_json *v = allm_request_json_schema(NULL, schema, true);
    CHECK_MISUSE(allm_json_error(v), "missing_field", "name");
    CHECK_INT(allm_json_type_of(v), ALLM_JSON_NONE);
    allm_json_free(v);
    v = allm_request_json_schema("x", broken, true);
    CHECK_MISUSE(allm_json_error(v), "broken_json", "schema");
    allm_json_free(v);
    CHECK_ALWAYS(!allm_request_json_schema("x", NULL, true));
    allm_json_free(schema);
    allm_json_free(broken);
}

static void nothing_is_accepted(void)
{
    CHECK_ALWAYS(!allm_request_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ALWAYS(!allm_request_from_thread(NULL, NULL));
    CHECK_ERROR(allm_request_error(NULL), ALLM_ERR_NOMEM, "out_of_memory",
                NULL);
    allm_request_free(NULL);
}

/* Three members with more than one shape; the others are as by default. */
#define TRIP(model, choice, format) \
    "{'messages':[],'model':" model ",'tools':[],'tool_choice':" choice "," \
    "'temperature':null,'max_tokens':null,'stream':false," \
    "'response_format':" format ",'structured_finalize':false," \
    "'options':{},'metadata':{}}"
#define REF "{'provider':'p','id':'i','capabilities':null,'limits':null," \
            "'pricing':null,'metadata':{}}"

static void comes_back_from_json(void)
{
    static const char *const same[] = {
        TRIP("null", "null", "null"),
        TRIP("'fake:x'", "'auto'", "'text'"),
        TRIP(REF, "{'type':'any'}", "{'type':'json_object'}"),
        TRIP("42", "42", "42"),
        TRIP("['p','i']", "[]", "{}"),
        TRIP("null", "'my_tool'", "{'type':'json_schema','name':'n',"
             "'schema':{},'strict':true,'more':1}"),
        TRIP("null", "null", "{'type':7}"),
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        CHECK_TRIP("Request", same[i], same[i]);
    CHECK_TRIP("Request", TRIP("null", "null", "'xml'"),
               "[['response_format','atom_decode_failed']]");
    CHECK_TRIP("Request", TRIP("null", "null", "{'type':'grammar'}"),
               "[[['response_format','type'],'atom_decode_failed']]");
}

/* What could not be read again is not written. */
static void an_unknown_type_of_format_is_not_written(void)
{
    static const char *const rows[][2] = {
        { "{'type':'grammar'}", "grammar" }, { "'xml'", "xml" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const allm_message *none = NULL;
        allm_json *format = noun_json(rows[i][0]);
        allm_request *r = allm_request_new(
            ALLM(request, .messages = &none, .response_format = format));
        for (uint32_t form = 0; format && r && form < 2; form++) {
            allm_text *t = allm_request_json(r, form);
            CHECK_MISUSE(allm_text_error(t), "not_serializable", rows[i][1]);
            allm_text_free(t);
        }
        allm_request_free(r);
        allm_json_free(format);
    }
}

static void members_find_their_places(void)
{
    allm_codec *c = noun_read("Request", TRIP("'m'", "'auto'", "'text'"));
    const allm_request *r = allm_codec_value(c, ALLM_TYPE_REQUEST);
    CHECK_TEXT(GET(r, model), "m");
    CHECK_TEXT(GET(r, tool_choice), "auto");
    CHECK_VALUE(GET(r, response_format), "'text'");
    CHECK(!GET(r, kept));
    allm_codec_free(c);

    c = noun_read("Request", TRIP(REF, "{'type':'any'}", "null"));
    r = allm_codec_value(c, ALLM_TYPE_REQUEST);
    const allm_model_ref *ref = GET(r, model_ref);
    CHECK_TEXT(GET(ref, provider), "p");
    CHECK_VALUE(GET(r, tool_choice_map), "{'type':'any'}");
    CHECK(!GET(r, model) && !GET(r, tool_choice) && !GET(r, kept));
    allm_codec_free(c);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(a_model_and_a_choice_have_two_shapes),
    TEST(refuses_what_lacks_something),
    TEST(an_explicit_empty_list_counts),
    TEST(sizes),
    TEST(shares_every_message_or_none),
    TEST(takes_the_messages_of_a_thread),
    TEST(takes_the_fields_of_a_request_of_ours),
    TEST(an_empty_thread_makes_an_empty_request),
    TEST(structs_of_other_versions_take_a_thread_too),
    TEST(tells_what_is_wrong_with_either),
    TEST(makes_a_response_format),
    TEST(a_response_format_needs_name_and_schema),
    TEST(nothing_is_accepted),
    TEST(comes_back_from_json),
    TEST(an_unknown_type_of_format_is_not_written),
    TEST(members_find_their_places),
    TESTS_END
};
