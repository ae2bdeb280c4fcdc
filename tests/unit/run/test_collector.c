/* test_collector.c - events of any origin, folded into results */
#include "allm.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"

/* Fold events, given as a list of JSON forms. */
static allm_status fold(allm_collector *c, const char *events)
{
    allm_status worst = ALLM_OK;
    allm_json *list = play_json(events);
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        allm_text *text = allm_json_write(v, 0);
        size_t len = 0;
        const char *bytes = allm_text_bytes(text, &len);
        allm_event *event = allm_event_parse(bytes, len);
        allm_status status = allm_collector_add(c, event);
        if (status < worst)
            worst = status;
        allm_event_free(event);
        allm_text_free(text);
    }
    allm_json_free(list);
    return worst;
}

static const char *part(const allm_json *v, const char *pointer)
{
    static char text[1024];
    allm_text *t = allm_json_write(allm_json_pointer(v, pointer), 0);
    const char *bytes = allm_text_bytes(t, NULL);
    strncpy(text, bytes ? bytes : "none", sizeof text - 1);
    allm_text_free(t);
    return text;
}

static allm_json *plain(allm_text *text)
{
    size_t len = 0;
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *v = bytes ? allm_json_parse(bytes, len, NULL) : NULL;
    allm_text_free(text);
    return v;
}

/* --------------------------------------------------------- one response --- */

static void each_event_changes_the_response(void)
{
    static const struct {
        const char *why, *events, *pointer, *want;
    } rows[] = {
        { "nothing", "[]", "/output_text", "\"\"" },
        { "no finish", "[]", "/finish_reason", "null" },
        { "no message", "[]", "/message", "null" },
        { "a start says nothing",
          "[{'type':'message_started','message':{'role':'assistant',"
          "'content':''}}]",
          "/message", "null" },
        { "deltas add up",
          "[{'type':'text_delta','delta':'a'},{'type':'text_delta',"
          "'delta':'b'}]",
          "/output_text", "\"ab\"" },
        { "the whole text counts",
          "[{'type':'text_delta','delta':'a'},{'type':'text_completed',"
          "'text':'other'}]",
          "/output_text", "\"other\"" },
        { "a call that has only begun",
          "[{'type':'tool_call_started','id':'c','name':'f'}]",
          "/tool_calls/0", "{\"id\":\"c\",\"name\":\"f\",\"arguments\":{},"
                           "\"raw_arguments\":\"\",\"metadata\":{}}" },
        { "pieces are not parsed",
          "[{'type':'tool_call_started','id':'c','name':'f'},"
          "{'type':'tool_call_delta','id':'c','arguments_delta':'{'},"
          "{'type':'tool_call_delta','id':'c','arguments_delta':'}'}]",
          "/tool_calls/0", "{\"id\":\"c\",\"name\":\"f\",\"arguments\":{},"
                           "\"raw_arguments\":\"{}\",\"metadata\":{}}" },
        { "a start after a piece does not mend the name",
          "[{'type':'tool_call_delta','id':'c','arguments_delta':'{}'},"
          "{'type':'tool_call_started','id':'c','name':'f'}]",
          "/tool_calls/0/name", "\"\"" },
        { "the completed call replaces it",
          "[{'type':'tool_call_delta','id':'c','arguments_delta':'{'},"
          "{'type':'tool_call_completed','id':'c','name':'g','arguments':"
          "{'x':1},'raw_arguments':'raw','metadata':{'m':1}}]",
          "/tool_calls/0", "{\"id\":\"c\",\"name\":\"g\",\"arguments\":"
                           "{\"x\":1},\"raw_arguments\":\"raw\","
                           "\"metadata\":{\"m\":1}}" },
        { "a piece after the end is added to its text",
          "[{'type':'tool_call_completed','id':'c','name':'g','arguments':{},"
          "'raw_arguments':'{'},{'type':'tool_call_delta','id':'c',"
          "'arguments_delta':'}'}]",
          "/tool_calls/0/raw_arguments", "\"{}\"" },
        { "calls stand in the order they were first seen",
          "[{'type':'tool_call_started','id':'b','name':'f'},"
          "{'type':'tool_call_completed','id':'a','name':'f','arguments':{},"
          "'raw_arguments':''},{'type':'tool_call_completed','id':'b',"
          "'name':'g','arguments':{},'raw_arguments':''}]",
          "/tool_calls/0/name", "\"g\"" },
        { "the message",
          "[{'type':'message_completed','message':{'role':'assistant',"
          "'content':'m'},'finish_reason':'length'}]",
          "/message/content", "\"m\"" },
        { "the finish reason",
          "[{'type':'message_completed','message':{'role':'assistant',"
          "'content':'m'},'finish_reason':'length'}]",
          "/finish_reason", "\"length\"" },
        { "a later null does not change it",
          "[{'type':'message_completed','message':{'role':'assistant',"
          "'content':'m'},'finish_reason':'length'},{'type':"
          "'message_completed','message':{'role':'assistant','content':'n'},"
          "'finish_reason':null}]",
          "/finish_reason", "\"length\"" },
        { "metadata are merged",
          "[{'type':'message_completed','message':{'role':'assistant',"
          "'content':''},'metadata':{'a':1,'b':1}},{'type':"
          "'message_completed','message':{'role':'assistant','content':''},"
          "'metadata':{'b':2}}]",
          "/metadata", "{\"a\":1,\"b\":2}" },
        { "usage, field by field",
          "[{'type':'usage','input_tokens':1,'output_tokens':2},{'type':"
          "'usage','output_tokens':3}]",
          "/usage/input_tokens", "1" },
        { "usage, the last counts",
          "[{'type':'usage','input_tokens':1,'output_tokens':2},{'type':"
          "'usage','output_tokens':3}]",
          "/usage/output_tokens", "3" },
        { "usage as the model library sends it replaces",
          "[{'type':'usage','input_tokens':1},{'type':'raw_chunk','chunk':"
          "['usage',{'output_tokens':3}]}]",
          "/usage/input_tokens", "null" },
        { "other chunks say nothing",
          "[{'type':'raw_chunk','chunk':{'a':1}}]", "/output_text", "\"\"" },
        { "an error",
          "[{'type':'error','error':{'kind':'adapter','reason':'timeout'}}]",
          "/finish_reason", "\"error\"" },
        { "an error that is none of ours is the cause of one",
          "[{'type':'error','error':'boom'}]", "/metadata/error",
          "{\"kind\":\"adapter\",\"reason\":\"unknown\",\"message\":"
          "\"adapter error: unknown\",\"provider\":null,\"status\":null,"
          "\"retry_after_ms\":null,\"request_id\":null,\"cause\":\"boom\","
          "\"metadata\":{}}" },
        { "an error that is none of ours ends the answer",
          "[{'type':'error','error':{'reason':'x'}}]", "/finish_reason",
          "\"error\"" },
        { "an error is in the metadata",
          "[{'type':'error','error':{'kind':'adapter','reason':'timeout'}}]",
          "/metadata/error/reason", "\"timeout\"" },
        { "a later finish wins",
          "[{'type':'error','error':{'kind':'stream','reason':'cancelled'}},"
          "{'type':'message_completed','message':{'role':'assistant',"
          "'content':''},'finish_reason':'stop'}]",
          "/finish_reason", "\"stop\"" },
        { "thoughts are kept one after the other",
          "[{'type':'reasoning_delta','delta':'a'},{'type':"
          "'reasoning_completed','text':'A'},{'type':'reasoning_delta',"
          "'delta':'b'}]",
          "/metadata/reasoning/text", "\"Ab\"" },
        { "tools that run say nothing",
          "[{'type':'tool_execution_started','id':'c','name':'f',"
          "'arguments':{}},{'type':'tool_execution_completed','id':'c',"
          "'name':'f','result':{'ok':1}}]",
          "/tool_calls", "[]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_collector *c = allm_collector_new(NULL);
        CHECK_INT(fold(c, rows[i].events), ALLM_OK);
        allm_response *r = allm_collector_response(c);
        allm_json *v = plain(allm_response_json(r, ALLM_FORM_PLAIN));
        CHECK_TEXT(part(v, rows[i].pointer), rows[i].want);
        allm_json_free(v);
        allm_response_free(r);
        CHECK(c && !allm_collector_error(c));
        allm_collector_free(c);
    }
}

static void an_unknown_usage_is_an_adapters_bug(void)
{
    allm_collector *c = allm_collector_new(NULL);
    CHECK_INT(fold(c, "[{'type':'raw_chunk','chunk':['usage',"
                      "{'tokens':1}]}]"),
              ALLM_ERR_MISUSE);
    CHECK_INT(fold(c, "[{'type':'text_delta','delta':'a'}]"), ALLM_OK);
    allm_collector_free(c);
}

static void odd_events_change_nothing(void)
{
    allm_collector *c = allm_collector_new(NULL);
    const allm_event *odd[] = {
        ALLM(event, .type = ALLM_EV_NONE),
        ALLM(event, .type = (allm_event_type)77),
        ALLM(event, .type = ALLM_EV_TEXT_DELTA),
        ALLM(event, .type = ALLM_EV_TOOL_CALL_STARTED, .id = "c"),
        ALLM(event, .type = ALLM_EV_TOOL_CALL_DELTA, .text = "c"),
        ALLM(event, .type = ALLM_EV_TOOL_CALL_COMPLETED, .id = "c",
             .name = "f"),
        ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED,
             .finish_reason = ALLM_FINISH_STOP),
        ALLM(event, .type = ALLM_EV_ERROR),
        ALLM(event, .type = ALLM_EV_USAGE),
        ALLM(event, .type = ALLM_EV_CHAT_COMPLETED),
        ALLM(event, .type = ALLM_EV_TOOL_HALT),
        ALLM(event, .type = ALLM_EV_ASK_USER_REQUESTED),
        ALLM(event, .type = ALLM_EV_TOOL_RESULT_ENCODED),
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        CHECK_INT(allm_collector_add(c, odd[i]), ALLM_OK);
    allm_event no_size = { .type = ALLM_EV_TEXT_DELTA };
    CHECK_INT(allm_collector_add(c, &no_size), ALLM_ERR_MISUSE);
    allm_response *r = allm_collector_response(c);
    CHECK(r && r->finish_reason == ALLM_FINISH_NONE && !r->error &&
          r->tool_call_count == 0 && r->output_len == 0);
    allm_response_free(r);
    allm_collector_free(c);
    CHECK_INT(allm_collector_add(NULL, NULL), ALLM_ERR_NOMEM);
    CHECK(!allm_collector_response(NULL));
    CHECK(!allm_collector_step_result(NULL));
    CHECK(!allm_collector_chat_result(NULL));
    CHECK_INT(allm_collector_error(NULL)->kind, ALLM_ERR_NOMEM);
    allm_collector_free(NULL);
}

/* ------------------------------------------------------ steps and chats --- */

static allm_thread *small_thread(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    return t;
}

static void results_need_a_thread(void)
{
    allm_collector *c = allm_collector_new(NULL);
    allm_step_result *step = allm_collector_step_result(c);
    allm_chat_result *chat = allm_collector_chat_result(c);
    CHECK_MISUSE(allm_step_result_error(step), "no_thread", "response");
    CHECK_MISUSE(allm_chat_result_error(chat), "no_thread", NULL);
    allm_step_result_free(step);
    allm_chat_result_free(chat);
    allm_collector_free(c);
}

#define CALLS                                                             \
    "{'type':'tool_call_completed','id':'c0','name':'f','arguments':{},"  \
    "'raw_arguments':'{}'},{'type':'tool_call_completed','id':'c1',"      \
    "'name':'g','arguments':{},'raw_arguments':'{}'},"
#define HALT(id, reason)                                                  \
    "{'type':'tool_halt','tool_call_id':'" id "','reason':'" reason       \
    "','result':{'r':1}}"
#define HALT_SAID(id)                                                     \
    "{'type':'tool_halt','tool_call_id':'" id "','reason':'x','result':1,"  \
    "'content':'said'}"
#define ASK(id)                                                           \
    "{'type':'ask_user_requested','tool_call_id':'" id "','tool_name':"   \
    "'f','question':'why?','opts':{'o':1}}"

static void halts_tell_about_themselves(void)
{
    static const struct {
        const char *why, *events, *metadata;
        size_t results;
        bool done;
    } rows[] = {
        { "none", "[" CALLS "{'type':'tool_result_encoded','id':'c0',"
                  "'content':'x'}]",
          "{}", 1, false },
        { "a tool halts", "[" CALLS HALT("c0", "enough") "]",
          "{\"halted_reason\":\"enough\",\"halt_tool_call_id\":\"c0\","
          "\"halt_result\":{\"r\":1}}",
          1, true },
        { "a tool fails", "[" CALLS HALT("c0", "tool_error") "]",
          "{\"halted_reason\":\"tool_error\",\"halt_tool_call_id\":\"c0\"}",
          1, true },
        { "a tool asks", "[" CALLS ASK("c0") "]",
          "{\"halted_reason\":\"ask_user\",\"pending_tool_call_id\":\"c0\","
          "\"pending_question\":\"why?\",\"ask_user_opts\":{\"o\":1}}",
          1, true },
        { "the first call wins, whoever was faster",
          "[" CALLS HALT("c1", "late") "," HALT("c0", "early") "]",
          "{\"halted_reason\":\"early\",\"halt_tool_call_id\":\"c0\","
          "\"halt_result\":{\"r\":1}}",
          2, true },
        { "every message is kept",
          "[" CALLS HALT("c0", "early") "," ASK("c1") "]",
          "{\"halted_reason\":\"early\",\"halt_tool_call_id\":\"c0\","
          "\"halt_result\":{\"r\":1}}",
          2, true },
        { "a finish is an end",
          "[{'type':'message_completed','message':{'role':'assistant',"
          "'content':''},'finish_reason':'content_filter'}]",
          "{}", 0, true },
        { "other is not",
          "[{'type':'message_completed','message':{'role':'assistant',"
          "'content':''},'finish_reason':'other'}]",
          "{}", 0, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_thread *t = small_thread();
        allm_collector *c = allm_collector_new(t);
        allm_thread_free(t);
        CHECK_INT(fold(c, rows[i].events), ALLM_OK);
        allm_step_result *step = allm_collector_step_result(c);
        allm_json *v = plain(allm_step_result_json(step, ALLM_FORM_PLAIN));
        CHECK_TEXT(part(v, "/metadata"), rows[i].metadata);
        CHECK_INT(GET(step, tool_result_count), rows[i].results);
        CHECK_INT(GET(step, done), rows[i].done);
        allm_json_free(v);
        allm_step_result_free(step);
        allm_collector_free(c);
    }
}

static void halts_leave_tool_messages(void)
{
    allm_thread *t = small_thread();
    allm_collector *c = allm_collector_new(t);
    allm_thread_free(t);
    fold(c, "[" CALLS HALT("c0", "x") "," ASK("c1") "," HALT_SAID("c2") "]");
    allm_step_result *step = allm_collector_step_result(c);
    if (CHECK(step && step->tool_result_count == 3)) {
        CHECK_TEXT(step->tool_results[0]->text, "{\"r\":1}");
        CHECK_TEXT(step->tool_results[1]->text, "<awaiting user response>");
        CHECK_TEXT(step->tool_results[1]->tool_call_id, "c1");
        CHECK_TEXT(step->tool_results[2]->text, "said");
    }
    allm_step_result_free(step);
    allm_collector_free(c);
}

#define STEP                                                              \
    "{'type':'step_completed','response':{'output_text':'a',"             \
    "'finish_reason':'tool_calls'},'thread':{'messages':[{'role':'user'," \
    "'content':'hi'},{'role':'assistant','content':'a'}]},'mode':"        \
    "'manual','manual_tool_calls':[{'id':'c0','name':'f','arguments':{}," \
    "'raw_arguments':'{}'}]}"

static void a_step_that_has_ended_is_the_step(void)
{
    static const struct {
        const char *events, *text;
    } rows[] = {
        { "[{'type':'text_delta','id':null,'delta':'x'}," STEP "]", "a" },
        { "[" STEP ",{'type':'text_delta','id':null,'delta':'b'}]", "b" },
        { "[" STEP "," STEP "]", "a" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_thread *t = small_thread();
        allm_collector *c = allm_collector_new(t);
        allm_thread_free(t);
        CHECK_INT(fold(c, rows[i].events), ALLM_OK);
        allm_step_result *step = allm_collector_step_result(c);
        if (CHECK(step && step->response))
            CHECK_TEXT(step->response->output_text, rows[i].text);
        allm_step_result_free(step);
        allm_collector_free(c);
    }
}

static void a_step_ends_and_another_begins(void)
{
    allm_thread *t = small_thread();
    allm_collector *c = allm_collector_new(t);
    allm_thread_free(t);
    CHECK_INT(fold(c, "[{'type':'text_delta','delta':'a'},{'type':'usage',"
                      "'input_tokens':1}," CALLS STEP ","
                      "{'type':'text_delta','delta':'b'}]"),
              ALLM_OK);
    allm_response *r = allm_collector_response(c);
    CHECK_TEXT(GET(r, output_text), "b");
    CHECK_INT(GET(r, tool_call_count), 0);
    CHECK(r && r->usage->input_tokens.value == 1);      /* goes on */
    allm_response_free(r);
    allm_chat_result *chat = allm_collector_chat_result(c);
    if (CHECK(chat != NULL)) {
        CHECK_INT(chat->step_count, 1);
        CHECK_TEXT(chat->halted_reason, "cancelled");
        CHECK_INT(allm_thread_count(chat->thread), 2);
        CHECK_TEXT(GET(chat->final_response, output_text), "a");
        allm_json *v = plain(allm_chat_result_json(chat, ALLM_FORM_PLAIN));
        CHECK_TEXT(part(v, "/steps/0/metadata/mode"), "\"manual\"");
        CHECK_TEXT(part(v, "/steps/0/metadata/manual_tool_calls/0/id"),
                   "\"c0\"");
        allm_json_free(v);
    }
    allm_chat_result_free(chat);
    allm_collector_free(c);
}

static void a_chat_without_its_end_was_cancelled_or_failed(void)
{
    allm_thread *t = small_thread();
    allm_collector *c = allm_collector_new(t);
    allm_thread_free(t);
    fold(c, "[{'type':'text_delta','delta':'a'}]");
    allm_chat_result *chat = allm_collector_chat_result(c);
    CHECK_TEXT(GET(chat, halted_reason), "cancelled");
    CHECK(chat && chat->final_response &&
          !strcmp(chat->final_response->output_text, "a"));
    allm_chat_result_free(chat);
    fold(c, "[{'type':'error','error':{'kind':'adapter','reason':"
            "'timeout'}}]");
    chat = allm_collector_chat_result(c);
    CHECK_TEXT(GET(chat, halted_reason), "error");
    allm_chat_result_free(chat);
    allm_collector_free(c);
}

static void the_chats_own_result_counts(void)
{
    allm_collector *c = allm_collector_new(NULL);       /* no thread */
    CHECK_INT(fold(c, "[{'type':'chat_completed','result':{'thread':"
                      "{'messages':[]},'halted_reason':'max_turns'}}]"),
              ALLM_OK);
    allm_chat_result *chat = allm_collector_chat_result(c);
    CHECK(chat && !allm_chat_result_error(chat));
    CHECK_TEXT(GET(chat, halted_reason), "max_turns");
    allm_chat_result_free(chat);
    allm_collector_free(c);
}

TESTS = {
    TEST(each_event_changes_the_response),
    TEST(an_unknown_usage_is_an_adapters_bug),
    TEST(odd_events_change_nothing),
    TEST(results_need_a_thread),
    TEST(halts_tell_about_themselves),
    TEST(halts_leave_tool_messages),
    TEST(a_step_that_has_ended_is_the_step),
    TEST(a_step_ends_and_another_begins),
    TEST(a_chat_without_its_end_was_cancelled_or_failed),
    TEST(the_chats_own_result_counts),
    TESTS_END,
};
