/* test_script.c - read scripts, without playing them */
#include "provider/fake/script.h"

#include "harness/noun.h"

#include <stdio.h>

static void entries_are_read_apart(void)
{
    static const struct {
        const char *entry;
        enum fake_tag tag;
        const char *value, *opts;
    } rows[] = {
        { "['text','a']", FAKE_TEXT, "'a'", NULL },
        { "['text_delta','a']", FAKE_TEXT, "'a'", NULL },
        { "['reasoning','a']", FAKE_REASONING, "'a'", NULL },
        { "['tool_call',{}]", FAKE_TOOL_CALL, "{}", NULL },
        { "['tool_call_delta',{}]", FAKE_TOOL_CALL_DELTA, "{}", NULL },
        { "['usage',{}]", FAKE_USAGE, "{}", NULL },
        { "['raw_chunk',null]", FAKE_RAW_CHUNK, "null", NULL },
        { "['finish','stop']", FAKE_FINISH, "'stop'", NULL },
        { "['delay',1]", FAKE_DELAY, "1", NULL },
        { "['sleep',1]", FAKE_DELAY, "1", NULL },
        { "['error','x']", FAKE_ERROR, "'x'", NULL },
        { "['error','x',{}]", FAKE_ERROR, "'x'", "{}" },
        { "['error_event','x',{}]", FAKE_ERROR_EVENT, "'x'", "{}" },
        { "['stream_error','x']", FAKE_STREAM_ERROR, "'x'", NULL },
        { "['preflight_error','x',{}]", FAKE_PREFLIGHT_ERROR, "'x'", "{}" },
        { "['ok',{}]", FAKE_OK, "{}", NULL },
        { "['text']", FAKE_TEXT, NULL, NULL },
        { "['text','a','b']", FAKE_TEXT, "'a'", NULL },
        { "['shout','a']", FAKE_UNKNOWN, "'a'", NULL },
        { "[]", FAKE_UNKNOWN, NULL, NULL },
        { "'text'", FAKE_UNKNOWN, NULL, NULL },
        { "{'text':'a'}", FAKE_UNKNOWN, NULL, NULL },
        { "[1,2]", FAKE_UNKNOWN, NULL, NULL },
        { "null", FAKE_UNKNOWN, NULL, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].entry);
        allm_json *v = noun_json(rows[i].entry);
        struct fake_entry e = fake_entry_read(v);
        CHECK_INT(e.tag, rows[i].tag);
        CHECK_VALUE(e.value, rows[i].value);
        CHECK_VALUE(e.opts, rows[i].opts);
        allm_json_free(v);
    }
    CHECK_INT(fake_entry_read(NULL).tag, FAKE_UNKNOWN);
}

/* Which key is used, and whether it holds one call or many. */
static void scripts_are_chosen(void)
{
    static const struct {
        const char *opts, *calls, *only;
    } rows[] = {
        { "{}", NULL, NULL },
        { "{'script':[]}", NULL, "[]" },
        { "{'scripts':[]}", "[]", NULL },
        { "{'scripts':[[]]}", "[[]]", NULL },
        { "{'stream_script':[]}", NULL, "[]" },
        { "{'stream_script':[['text','a']],'script':[]}", NULL,
          "[['text','a']]" },
        { "{'stream_script':[[['text','a']]],'scripts':[]}",
          "[[['text','a']]]", NULL },
        { "{'stream_script':[[]]}", "[[]]", NULL },
        { "{'script':null,'scripts':[[]]}", "[[]]", NULL },
        { "{'scripts':[[]],'stream_script':null}", "[[]]", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct fake_script s;
        check_row(rows[i].opts);
        allm_json *opts = noun_json(rows[i].opts);
        arena_init(&a, mem_default());
        CHECK_WELL(fake_script_read(&s, &a, opts));
        CHECK_VALUE(s.calls, rows[i].calls);
        CHECK_VALUE(s.only, rows[i].only);
        CHECK_WELL(fake_script_check(&a, &s));
        arena_release(&a);
        allm_json_free(opts);
    }
}

static void calls_are_found_by_number(void)
{
    allm_json *calls = noun_json("[[],[['text','a']]]");
    struct fake_script many = { .calls = calls }, one = { .only = calls };
    CHECK_VALUE(fake_script_call(&many, 0), "[]");
    CHECK_VALUE(fake_script_call(&many, 1), "[['text','a']]");
    CHECK_ALWAYS(!fake_script_call(&many, 2));
    CHECK_ALWAYS(!fake_script_call(&many, UINT64_MAX));
    CHECK(fake_script_call(&one, 0) == calls);
    CHECK_ALWAYS(!fake_script_call(&one, 1));
    CHECK_ALWAYS(!fake_script_call(&(struct fake_script){ NULL, NULL }, 0));
    allm_json_free(calls);
}

/* The error names the call and the entry, and says what is expected. */
static void refusals_say_where_and_what(void)
{
    allm_json *calls = noun_json("[[],[['text','a'],['finish','done']]]");
    struct fake_script s = { .calls = calls };
    struct arena a;
    arena_init(&a, mem_default());
    if (calls)
        CHECK_MISUSE(fake_script_check(&a, &s), "invalid_script",
                     "entry 1 of call 1 of the fake's script (both counted "
                     "from 0) must be [\"finish\", reason] with stop, length, "
                     "tool_calls, content_filter, error, other or null");
    arena_release(&a);
    allm_json_free(calls);
}

/* --------------------------------------------------------------- values --- */

static void usage_has_its_fields(void)
{
    allm_usage u;
    allm_json *all = noun_json(
        "{'input_tokens':1,'output_tokens':2,'cached_input_tokens':3,"
        "'reasoning_tokens':4,'total_tokens':5,'input_cost':0.5,"
        "'output_cost':1,'total_cost':1.5,'tool_usage':{},'extra':{'a':1}}");
    allm_json *nulls = noun_json("{'input_tokens':null,'extra':null}");
    if (all && nulls) {
        CHECK(!fake_read_usage(all, &u));
        CHECK_INT(u.input_tokens.value + u.output_tokens.value +
                      u.cached_input_tokens.value + u.reasoning_tokens.value +
                      u.total_tokens.value,
                  15);
        CHECK(u.output_cost.set && u.output_cost.value == 1);
        CHECK_VALUE(u.extra, "{'a':1}");
        CHECK(!fake_read_usage(nulls, &u));
        CHECK(!u.input_tokens.set && !u.extra);
    }
    CHECK(fake_read_usage(NULL, &u) != NULL);
    allm_json_free(all);
    allm_json_free(nulls);
}

static void every_finish_reason_is_known(void)
{
    static const char *const words[] = { "null",   "'stop'", "'length'",
                                         "'tool_calls'", "'content_filter'",
                                         "'error'", "'other'" };
    allm_finish f = ALLM_FINISH_NONE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        check_row(words[i]);
        allm_json *v = noun_json(words[i]);
        if (v)
            CHECK(!fake_read_finish(v, &f));
        CHECK_INT(f, i);
        allm_json_free(v);
    }
    CHECK(fake_read_finish(NULL, &f) != NULL);
}

/* Every reason of the two families can be scripted. */
static void every_reason_can_be_scripted(void)
{
    static const struct {
        const char *tag;
        allm_status kind;
    } families[] = { { "error", ALLM_ERR_ADAPTER },
                     { "error_event", ALLM_ERR_ADAPTER },
                     { "preflight_error", ALLM_ERR_ADAPTER },
                     { "stream_error", ALLM_ERR_STREAM } };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const char *const *r = allm_error_reasons(families[i].kind);
        for (; *r; r++) {
            char text[128];
            allm_error error;
            snprintf(text, sizeof text,
                     "['%s','%s',{'status':500,"
                     "'request_id':'r','event_index':2,'message':null}]",
                     families[i].tag, *r);
            check_row(text);
            allm_json *v = noun_json(text);
            struct fake_entry e = fake_entry_read(v);
            const char *wrong = fake_read_error(&e, &error);
            CHECK(!wrong);
            CHECK_INT(error.kind, families[i].kind);
            CHECK_TEXT(error.reason, *r);
            CHECK_INT(error.http_status.value, 500);
            CHECK_INT(error.event_index.value, 2);
            CHECK_TEXT(error.request_id, "r");
            allm_json_free(v);
        }
    }
}

static void delays_have_a_limit(void)
{
    static const struct {
        const char *ms;
        int64_t want;           /* -1: refused */
    } rows[] = { { "0", 0 },         { "86400000", 86400000 },
                 { "86400001", -1 }, { "-1", -1 },
                 { "1.0", -1 },      { "'1'", -1 },
                 { "1e30", -1 },     { "18446744073709551615", -1 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t ms = -1;
        check_row(rows[i].ms);
        allm_json *v = noun_json(rows[i].ms);
        const char *wrong = fake_read_delay(v, &ms);
        CHECK_INT(wrong ? -1 : ms, rows[i].want);
        allm_json_free(v);
    }
}

TESTS = {
    TEST(entries_are_read_apart),
    TEST(scripts_are_chosen),
    TEST(calls_are_found_by_number),
    TEST(refusals_say_where_and_what),
    TEST(usage_has_its_fields),
    TEST(every_finish_reason_is_known),
    TEST(every_reason_can_be_scripted),
    TEST(delays_have_a_limit),
    TESTS_END,
};
