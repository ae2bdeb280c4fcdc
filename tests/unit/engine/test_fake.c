/* test_fake.c - constructors of scripts, and the log of calls */
#include "allm.h"

#include "harness/noun.h"
#include "harness/play.h"

/* Is the script this?  Frees it. */
static void check_script(const char *why, allm_json *script, const char *want)
{
    check_row(why);
    CHECK_WELL(allm_json_error(script));
    CHECK_VALUE(script, want);
    allm_json_free(script);
}

/* The fixtures of the contract, entry by entry. */
static void scripts_are_as_the_contract_has_them(void)
{
    allm_json *args = noun_json("{'x': 1}");
    allm_json *calls = noun_json("[['f', {'x': 1}], ['g', {}], ['h'],"
                                 " ['i', null]]");
    check_script("plain_text", allm_fake_plain_text("hi"),
                 "[['text','hi'],['finish','stop']]");
    check_script("its default", allm_fake_plain_text(NULL),
                 "[['text','Hello world'],['finish','stop']]");
    check_script("an empty text", allm_fake_plain_text(""),
                 "[['text',''],['finish','stop']]");
    if (args && calls) {
        check_script("single_tool_call", allm_fake_single_tool_call("f", args),
                     "[['tool_call',{'id':'call_0','name':'f',"
                     "'arguments':{'x':1}}],['finish','tool_calls']]");
        check_script("parallel_tool_calls",
                     allm_fake_parallel_tool_calls(calls),
                     "[['tool_call',{'id':'call_0','name':'f',"
                     "'arguments':{'x':1}}],['tool_call',{'id':'call_1',"
                     "'name':'g','arguments':{}}],['tool_call',{'id':'call_2',"
                     "'name':'h','arguments':{}}],['tool_call',{'id':'call_3',"
                     "'name':'i','arguments':null}],['finish','tool_calls']]");
        check_script("streamed arguments",
                     allm_fake_streamed_arguments("f", args),
                     "[['tool_call_delta',{'id':'call_1','name':'f',"
                     "'arguments_delta':'{\\'x'}],['tool_call_delta',"
                     "{'id':'call_1','name':'f','arguments_delta':'\\':1}'}],"
                     "['finish','tool_calls']]");
    }
    check_script("mid_stream_error", allm_fake_mid_stream_error("timeout"),
                 "[['text','partial'],['error','timeout']]");
    check_script("its default", allm_fake_mid_stream_error(NULL),
                 "[['text','partial'],['error','unknown']]");
    check_script("delayed_text", allm_fake_delayed_text("late", 10),
                 "[['delay',10],['text','late'],['finish','stop']]");
    check_script("empty_response", allm_fake_empty_response(),
                 "[['finish','stop']]");
    allm_json_free(args);
    allm_json_free(calls);
}

static void many_calls_have_numbers(void)
{
    allm_json *calls = noun_json("[['f'],['f'],['f'],['f'],['f'],['f'],['f'],"
                                 "['f'],['f'],['f'],['f'],['f']]");
    allm_json *script = allm_fake_parallel_tool_calls(calls);
    CHECK_TEXT(allm_json_text(allm_json_pointer(script, "/11/1/id"), NULL),
               "call_11");
    allm_json_free(script);
    allm_json_free(calls);
}

/* The value of adapter_opts.scripts; the parts may go at once. */
static void turns_are_joined(void)
{
    allm_json *parts[] = { allm_fake_single_tool_call("f", NULL),
                           allm_fake_plain_text("done") };
    const allm_json *lent[] = { parts[0], parts[1] };
    allm_json *scripts = allm_fake_multi_turn(2, lent);
    allm_json_free(parts[0]);
    allm_json_free(parts[1]);
    allm_json *none = noun_json("{}");
    allm_json *opts = allm_json_set(none, "scripts", scripts);
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "fake:m", .adapter_opts = opts));
    allm_json_free(opts);
    allm_json_free(scripts);
    allm_json_free(none);
    const char *want[] = {
        "started call:call_0/f called:call_0/f/{}/{} completed:/tool_calls ok",
        "started text:done text=done completed:done/stop ok",
        "adapter no_scripted_response",
    };
    for (size_t i = 0; i < 3; i++) {
        allm_stream *s = play_call(e);
        CHECK_TEXT(play_all(s), want[i]);
        allm_stream_free(s);
    }
    allm_engine_free(e);
    check_script("no calls", allm_fake_multi_turn(0, NULL), "[]");
}

static void check_refused(allm_json *script, const char *words)
{
    check_row(words);
    CHECK_MISUSE(allm_json_error(script), "invalid_script", words);
    CHECK_INT(allm_json_type_of(script), ALLM_JSON_NONE);
    allm_json_free(script);
}

static void what_cannot_be_scripted_is_refused(void)
{
    allm_json *list = noun_json("[1]"), *map = noun_json("{'f': 1}");
    allm_json *bad = noun_json("[['f', 3]]"), *nameless = noun_json("[[3]]");
    allm_json *keyed = noun_json("[{'a': 'f', 'b': {}}]");
    const allm_json *maps[] = { list, map };
    if (list && map && bad && nameless && keyed) {
        check_refused(allm_fake_single_tool_call(NULL, NULL),
                      "needs the name of a tool");
        check_refused(allm_fake_single_tool_call("f", list),
                      "must be an object; leave them out");
        check_refused(allm_fake_streamed_arguments("f", list),
                      "must be an object; leave them out");
        check_refused(allm_fake_parallel_tool_calls(NULL),
                      "needs a list: [[name, arguments], ...]");
        check_refused(allm_fake_parallel_tool_calls(map), "needs a list");
        check_refused(allm_fake_parallel_tool_calls(bad), "must be an object");
        check_refused(allm_fake_parallel_tool_calls(nameless),
                      "with a string as the name");
        check_refused(allm_fake_parallel_tool_calls(keyed),
                      "must be [name, arguments]");
        check_refused(allm_fake_multi_turn(2, NULL), "needs scripts");
        check_refused(allm_fake_multi_turn(2, maps),
                      "such as allm_fake_plain_text() returns");
    }
    allm_json_free(list);
    allm_json_free(map);
    allm_json_free(bad);
    allm_json_free(nameless);
    allm_json_free(keyed);
}

/* A script that was refused makes a conversation that is. */
static void a_refusal_travels(void)
{
    allm_json *refused = allm_fake_single_tool_call(NULL, NULL);
    const allm_json *lent[] = { refused };
    if (refused)
        check_refused(allm_fake_multi_turn(1, lent),
                      "needs the name of a tool");
    allm_json_free(refused);
    lent[0] = NULL;
    CHECK_ALWAYS(!allm_fake_multi_turn(1, lent));
}

/* Any engine can be asked, also one without the fake. */
static void an_engine_without_calls_has_none(void)
{
    allm_engine *e = allm_engine_new(NULL);
    CHECK_INT(allm_fake_calls(e), 0);
    CHECK_INT(allm_fake_released(e), 0);
    allm_json *seen = allm_fake_requests(e);
    CHECK_VALUE(seen, "[]");
    allm_json_free(seen);
    allm_engine_free(e);
}

static void a_cursor_can_be_given_again_before_the_first_call(void)
{
    allm_engine *e = play_engine("{'scripts': [[], []]}", NULL);
    allm_fake_cursor *a = allm_fake_cursor_new(), *b = allm_fake_cursor_new();
    CHECK_INT(allm_fake_use_cursor(e, a), ALLM_OK);
    CHECK_INT(allm_fake_use_cursor(e, a), ALLM_OK);
    CHECK_INT(allm_fake_use_cursor(e, b), ALLM_OK);
    CHECK_INT(allm_fake_use_cursor(e, NULL), ALLM_ERR_NOMEM);
    allm_stream_free(play_call(e));
    CHECK_INT(allm_fake_cursor_index(a), 0);
    CHECK_INT(allm_fake_cursor_index(b), 1);
    CHECK_INT(allm_fake_use_cursor(e, a), ALLM_ERR_MISUSE);
    allm_fake_cursor_free(a);
    allm_fake_cursor_free(b);
    allm_engine_free(e);
}

TESTS = {
    TEST(scripts_are_as_the_contract_has_them),
    TEST(many_calls_have_numbers),
    TEST(turns_are_joined),
    TEST(what_cannot_be_scripted_is_refused),
    TEST(a_refusal_travels),
    TEST(an_engine_without_calls_has_none),
    TEST(a_cursor_can_be_given_again_before_the_first_call),
    TESTS_END,
};
