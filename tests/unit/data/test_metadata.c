/* test_metadata.c - calls and errors of the metadata, with their types */
#include "data/metadata.h"

#include "harness/noun.h"

#include <stdio.h>

#define CALL(id) \
    "{'__type__':'ALLM.ToolCall','data':{'id':'" id "','name':'n'," \
    "'arguments':{'x':1},'raw_arguments':null,'metadata':{}}}"
#define ERROR \
    "{'__type__':'ALLM.Error.AdapterError'," \
    "'data':{'reason':'rate_limited','message':'slow down'}}"

#define STEP \
    "{'manual_tool_calls':[" CALL("a") "," CALL("b") "]," \
    "'unresolved_tool_calls':[" CALL("c") "]}"

/* The ids of calls, each followed by a space. */
static const char *ids(size_t count, const allm_tool_call *const *calls)
{
    static char text[64];
    text[0] = 0;
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s ", calls[i]->id);
    }
    return text;
}

static void a_step_has_its_calls(void)
{
    allm_json *m = noun_json(STEP);
    allm_step_result *r =
        allm_step_result_new(ALLM(step_result, .metadata = m));
    if (r && check_whole()) {
        CHECK_TEXT(ids(r->manual_tool_call_count, r->manual_tool_calls),
                   "a b ");
        CHECK_TEXT(ids(r->unresolved_tool_call_count, r->unresolved_tool_calls),
                   "c ");
        CHECK_VALUE(r->manual_tool_calls[0]->arguments, "{'x':1}");
        CHECK(allm_json_equal(r->metadata, m));
    }
    allm_step_result_free(r);
    allm_json_free(m);
}

#define CHAT_METADATA \
    "{'manual_tool_calls':[" CALL("a") "]," \
    "'unresolved_tool_calls':[" CALL("b") "]," \
    "'unknown_tool_calls':[" CALL("c") "]," \
    "'structured_finalize':{'pass_1_halted':'x','pass_2_error':" ERROR "}}"

static void a_chat_has_its_calls_and_its_second_error(void)
{
    allm_json *m = noun_json(CHAT_METADATA);
    allm_chat_result *r =
        allm_chat_result_new(ALLM(chat_result, .metadata = m));
    if (r && check_whole()) {
        CHECK_TEXT(ids(r->manual_tool_call_count, r->manual_tool_calls), "a ");
        CHECK_TEXT(ids(r->unresolved_tool_call_count, r->unresolved_tool_calls),
                   "b ");
        CHECK_TEXT(ids(r->unknown_tool_call_count, r->unknown_tool_calls),
                   "c ");
        CHECK_ERROR(r->pass_2_error, ALLM_ERR_ADAPTER, "rate_limited", "slow");
        CHECK(!r->error && !allm_chat_result_error(r));
    }
    allm_chat_result_free(r);
    allm_json_free(m);
}

static void a_stored_result_has_them_again(void)
{
    allm_codec *c = noun_read("ChatResult",
                              "{'metadata':{'manual_tool_calls':[" CALL(
                                  "a") "],'error':" ERROR "}}");
    const allm_chat_result *r = allm_codec_value(c, ALLM_TYPE_CHAT_RESULT);
    if (r && check_whole()) {
        CHECK_TEXT(ids(r->manual_tool_call_count, r->manual_tool_calls), "a ");
        CHECK_ERROR(r->error, ALLM_ERR_ADAPTER, "rate_limited", NULL);
        CHECK(allm_chat_result_error(r) == r->error);
    }
    allm_codec_free(c);
}

static void other_values_stay_where_they_are(void)
{
    static const char *const rows[] = {
        "{'manual_tool_calls':null}", "{'manual_tool_calls':[]}",
        "{'manual_tool_calls':3}", "{'manual_tool_calls':'a'}",
        "{'manual_tool_calls':{'id':'a'}}", "{'structured_finalize':[]}",
        "{'structured_finalize':{'pass_2_error':'no'}}",
        "{'structured_finalize':{'pass_2_error':{}}}",
        "{'structured_finalize':{'pass_2_error':" CALL("a") "}}",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i]);
        allm_json *m = noun_json(rows[i]);
        allm_chat_result *r =
            allm_chat_result_new(ALLM(chat_result, .metadata = m));
        CHECK_WELL(allm_chat_result_error(r));
        CHECK(!GET(r, manual_tool_call_count) && !GET(r, pass_2_error));
        CHECK(!r || allm_json_equal(r->metadata, m));
        allm_chat_result_free(r);
        allm_json_free(m);
    }
}

static void a_caller_cannot_set_them(void)
{
    const allm_tool_call *call = ALLM(tool_call, .id = "a");
    allm_step_result *r = allm_step_result_new(ALLM(
        step_result, .manual_tool_calls = &call, .manual_tool_call_count = 1));
    CHECK_WELL(allm_step_result_error(r));
    CHECK(!GET(r, manual_tool_call_count) && !GET(r, manual_tool_calls));
    allm_step_result_free(r);
}

/* The function and the member agree: no error, the result's, a rejection. */
#define CHECK_AGREE(T, wanted, ...) \
    do { \
        allm_##T *v = allm_##T##_new(__VA_ARGS__); \
        const allm_error *why = allm_##T##_error(v); \
        CHECK(!v || why == v->error); \
        CHECK(!v || (why ? why->kind : ALLM_OK) == (wanted)); \
        allm_##T##_free(v); \
    } while (0)

static void there_is_one_way_to_ask_for_the_reason(void)
{
    const allm_error *e = ALLM(error, .kind = ALLM_ERR_ADAPTER,
                               .reason = "timeout");
    CHECK_AGREE(chat_result, ALLM_OK, NULL);
    CHECK_AGREE(chat_result, ALLM_ERR_ADAPTER, ALLM(chat_result, .error = e));
    CHECK_AGREE(chat_result, ALLM_ERR_MISUSE, &(allm_chat_result){ 0 });
    CHECK_AGREE(step_result, ALLM_OK, NULL);
    CHECK_AGREE(step_result, ALLM_ERR_ADAPTER, ALLM(step_result, .error = e));
    CHECK_AGREE(step_result, ALLM_ERR_MISUSE, &(allm_step_result){ 0 });
    CHECK_AGREE(response, ALLM_OK, NULL);
    CHECK_AGREE(response, ALLM_ERR_ADAPTER, ALLM(response, .error = e));
    CHECK_AGREE(response, ALLM_ERR_MISUSE, &(allm_response){ 0 });
    CHECK_AGREE(session_record, ALLM_OK, NULL);
    CHECK_AGREE(session_record, ALLM_ERR_ADAPTER,
                ALLM(session_record, .error = e));
    CHECK_AGREE(session_record, ALLM_ERR_MISUSE, &(allm_session_record){ 0 });
}

TESTS = {
    TEST(a_step_has_its_calls),
    TEST(a_chat_has_its_calls_and_its_second_error),
    TEST(a_stored_result_has_them_again),
    TEST(other_values_stay_where_they_are),
    TEST(a_caller_cannot_set_them),
    TEST(there_is_one_way_to_ask_for_the_reason),
    TESTS_END
};
