/* test_adapter.c - how the fake plays its scripts */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>

/* The exact events of each entry. */
static void plays_each_entry(void)
{
    static const struct {
        const char *why, *script, *events;
    } rows[] = {
        { "an empty script", "[]", "started completed:/null ok" },
        { "a finish alone", "[['finish', 'stop']]",
          "started completed:/stop ok" },
        { "text", "[['text', 'a'], ['text', 'b'], ['finish', 'stop']]",
          "started text:a text:b text=ab completed:ab/stop ok" },
        { "the harness shape of text", "[['text_delta', 'a']]",
          "started text:a text=a completed:a/null ok" },
        { "no finish", "[['text', 'a']]",
          "started text:a text=a completed:a/null ok" },
        { "an empty text is no text", "[['text', '']]",
          "started text: completed:/null ok" },
        { "entries after finish are ignored",
          "[['finish', 'length'], ['text', 'late']]",
          "started completed:/length ok" },
        { "a tool call",
          "[['tool_call', {'id': 'c0', 'name': 'f', 'arguments': {'x': 1}}],"
          " ['finish', 'tool_calls']]",
          "started call:c0/f called:c0/f/{\"x\":1}/{\"x\":1} "
          "completed:/tool_calls ok" },
        { "a tool call without arguments",
          "[['tool_call', {'id': 'c0', 'name': 'f'}]]",
          "started call:c0/f called:c0/f/{}/{} completed:/null ok" },
        { "its raw text beside the arguments",
          "[['tool_call', {'id': 'c0', 'name': 'f', 'arguments': {'x': 1},"
          " 'raw_arguments': '{ }'}]]",
          "started call:c0/f called:c0/f/{\"x\":1}/{ } completed:/null ok" },
        { "raw text that is an object",
          "[['tool_call', {'id': 'c0', 'name': 'f',"
          " 'raw_arguments': '{\\'x\\': 2}'}]]",
          "started call:c0/f called:c0/f/{\"x\":2}/{\"x\": 2} "
          "completed:/null ok" },
        { "raw text that is broken",
          "[['tool_call', {'id': 'c0', 'name': 'f',"
          " 'raw_arguments': '{\\'x'}]]",
          "started call:c0/f called:c0/f/{}/{\"x completed:/null ok" },
        { "raw text that is no object",
          "[['tool_call', {'id': 'c0', 'name': 'f',"
          " 'raw_arguments': '[1]'}]]",
          "started call:c0/f called:c0/f/{}/[1] completed:/null ok" },
        { "raw text that is empty",
          "[['tool_call', {'id': 'c0', 'name': 'f', 'raw_arguments': ''}]]",
          "started call:c0/f called:c0/f/{}/ completed:/null ok" },
        { "arguments in pieces: no started is made up",
          "[['tool_call_delta', {'id': 'c1', 'arguments_delta': '{\\'a'}],"
          " ['tool_call_delta', {'id': 'c1', 'arguments_delta': '}',"
          " 'name': 'ignored'}]]",
          "started args:c1/{\"a args:c1/} completed:/null ok" },
        { "usage", "[['usage', {'input_tokens': 3, 'output_tokens': 4}]]",
          "started usage:3/4 completed:/null ok" },
        { "reasoning ends before the next event of another kind",
          "[['reasoning', 'a'], ['delay', 0], ['reasoning', 'b'],"
          " ['text', 'x'], ['reasoning', 'c'], ['finish', 'stop']]",
          "started thinks:a thinks:b thought:ab text:x thinks:c thought:c "
          "text=x completed:x/stop ok" },
        { "reasoning at the end of the list", "[['reasoning', 'a']]",
          "started thinks:a thought:a completed:/null ok" },
        { "a legal reason", "[['text', 'p'], ['error', 'rate_limited']]",
          "started text:p error:adapter/rate_limited text=p completed:p/null "
          "ok" },
        { "an error that is no reason", "[['error', {'code': 7}]]",
          "started error:adapter/unknown completed:/null ok" },
        { "an error with fields",
          "[['error', 'timeout', {'status': 504}], ['finish', 'stop']]",
          "started error:adapter/timeout completed:/stop ok" },
        { "error_event", "[['error_event', 'content_filter']]",
          "started error:adapter/content_filter completed:/null ok" },
        { "stream_error", "[['stream_error', 'cancelled', {}]]",
          "started error:stream/cancelled completed:/null ok" },
        { "a pre-flight error that is late is an event",
          "[['text', 'a'], ['preflight_error', 'timeout']]",
          "started text:a error:adapter/timeout text=a completed:a/null ok" },
        { "a pre-flight error that is first", "[['preflight_error', "
          "'authentication_failed']]",
          "adapter authentication_failed" },
        { "a finish of null", "[['finish', null]]",
          "started completed:/null ok" },
        { "a whole response",
          "[['ok', {'output_text': 'hi', 'tool_calls': [{'id': 'c', 'name':"
          " 'f'}], 'usage': {'input_tokens': 1}, 'finish_reason': 'length'}],"
          " ['text', 'late']]",
          "started text:hi call:c/f called:c/f/{}/{} usage:1/0 text=hi "
          "completed:hi/length ok" },
        { "a whole response by its other name, finish is stop",
          "[['ok', {'text': 'hi'}]]",
          "started text:hi text=hi completed:hi/stop ok" },
        { "a whole response as a message",
          "[['ok', {'message': {'role': 'assistant', 'content': 'm'}}]]",
          "started text:m text=m completed:m/stop ok" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char opts[1024];
        check_row(rows[i].why);
        snprintf(opts, sizeof opts, "{'script': %s}", rows[i].script);
        CHECK_TEXT(play_once(opts), rows[i].events);
    }
}

/* Which of the three keys is used, and whether it has one call or many. */
static void chooses_the_script(void)
{
    static const struct {
        const char *why, *opts, *first, *second;
    } rows[] = {
        { "script", "{'script': [['text', 'a']]}",
          "started text:a text=a completed:a/null ok",
          "adapter no_scripted_response" },
        { "scripts", "{'scripts': [[['text', 'a']], [['text', 'b']]]}",
          "started text:a text=a completed:a/null ok",
          "started text:b text=b completed:b/null ok" },
        { "stream_script before scripts",
          "{'scripts': [[['text', 'a']]], 'stream_script': [['text', 's']]}",
          "started text:s text=s completed:s/null ok",
          "adapter no_scripted_response" },
        { "stream_script before script, as a list of calls",
          "{'script': [['text', 'a']],"
          " 'stream_script': [[['text', 's']], [['text', 't']]]}",
          "started text:s text=s completed:s/null ok",
          "started text:t text=t completed:t/null ok" },
        { "an empty script is one call", "{'script': []}",
          "started completed:/null ok", "adapter no_scripted_response" },
        { "so is one empty call in scripts", "{'scripts': [[]]}",
          "started completed:/null ok", "adapter no_scripted_response" },
        { "so is an empty stream_script", "{'stream_script': []}",
          "started completed:/null ok", "adapter no_scripted_response" },
        { "stream_script with one empty call", "{'stream_script': [[]]}",
          "started completed:/null ok", "adapter no_scripted_response" },
        { "no calls at all", "{'scripts': []}",
          "adapter no_scripted_response", "adapter no_scripted_response" },
        { "no script", "{}", "adapter no_scripted_response",
          "adapter no_scripted_response" },
        { "null is absent", "{'script': null, 'scripts': [[]]}",
          "started completed:/null ok", "adapter no_scripted_response" },
        { "options as pairs", "[['script', [['text', 'a']]]]",
          "started text:a text=a completed:a/null ok",
          "adapter no_scripted_response" },
        { "a failed pre-flight uses up its call",
          "{'scripts': [[['preflight_error', 'timeout']], [['text', 'b']]]}",
          "adapter timeout", "started text:b text=b completed:b/null ok" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_engine *e = play_engine(rows[i].opts, NULL);
        allm_stream *s = play_call(e);
        CHECK_TEXT(play_all(s), rows[i].first);
        allm_stream_free(s);
        s = play_call(e);
        CHECK_TEXT(play_all(s), rows[i].second);
        allm_stream_free(s);
        CHECK_INT(allm_fake_calls(e), 2);
        allm_engine_free(e);
    }
}

/* A wrong configuration is a misuse of the first call; nothing is counted. */
static void refuses_what_cannot_be_meant(void)
{
    static const struct {
        const char *opts, *sentence;
    } rows[] = {
        { "{'script': [], 'scripts': []}", "has both script and scripts" },
        { "{'script': 'hi'}", "script must be a list" },
        { "{'scripts': {}}", "scripts must be a list of calls" },
        { "{'scripts': [1]}", "contain only lists of entries" },
        { "{'scripts': [['text', 'a']]}", "entry 0 of call 0" },
        { "{'stream_script': 3}", "stream_script must be a list" },
        { "{'stream_script': [[['text', 'a']], 1]}",
          "contain only lists of entries" },
        { "{'script_cursor': 1}", "allm_fake_use_cursor" },
        { "{'retry_until_call': 0, 'script': []}", "1 or more" },
        { "{'retry_until_call': 'x', 'script': []}", "1 or more" },
        { "{'record': 'yes', 'script': []}", "true or false" },
        { "{'usage': {'tokens': 1}, 'script': []}", "usage of adapter_opts" },
        { "{'usage': 3, 'script': []}", "an object with fields" },
        { "{'script': [['shout', 'a']]}", "begins with text" },
        { "{'script': ['text']}", "begins with text" },
        { "{'script': [[]]}", "begins with text" },
        { "{'script': [['text']]}", "[\"text\", string]" },
        { "{'script': [['text', 3]]}", "[\"text\", string]" },
        { "{'script': [['reasoning', null]]}", "[\"reasoning\", string]" },
        { "{'script': [['tool_call', {'name': 'f'}]]}", "both are required" },
        { "{'script': [['tool_call', {'id': 'c'}]]}", "both are required" },
        { "{'script': [['tool_call', 'c']]}", "both are required" },
        { "{'script': [['tool_call', {'id': 'c', 'name': 'f',"
          " 'arguments': '{}'}]]}",
          "arguments are an object" },
        { "{'script': [['tool_call', {'id': 'c', 'name': 'f',"
          " 'raw_arguments': {}}]]}",
          "raw_arguments is a string" },
        { "{'script': [['tool_call', {'id': 'c', 'name': 'f',"
          " 'metadata': 1}]]}",
          "metadata is an object" },
        { "{'script': [['tool_call_delta', {'id': 'c'}]]}", "arguments_delta" },
        { "{'script': [['usage', {'tokens': 1}]]}", "fields of a usage only" },
        { "{'script': [['usage', {'input_tokens': 'x'}]]}", "integers" },
        { "{'script': [['usage', [1]]]}", "an object with fields" },
        { "{'script': [['raw_chunk']]}", "[\"raw_chunk\", value]" },
        { "{'script': [['finish']]}", "stop, length" },
        { "{'script': [['finish', 'done']]}", "stop, length" },
        { "{'script': [['delay', -1]]}", "milliseconds" },
        { "{'script': [['delay', 1.5]]}", "milliseconds" },
        { "{'script': [['sleep', 'a bit']]}", "milliseconds" },
        { "{'script': [['error']]}", "ALLM_ERR_ADAPTER" },
        { "{'script': [['error', 'oops', {}]]}", "ALLM_ERR_ADAPTER" },
        { "{'script': [['error', 'timeout', {'colour': 1}]]}",
          "fields of an error only" },
        { "{'script': [['error_event', 'oops']]}", "ALLM_ERR_ADAPTER" },
        { "{'script': [['error_event', 'timeout', 3]]}",
          "fields of an error only" },
        { "{'script': [['error_event', 'timeout', {'status': 'x'}]]}",
          "fields of an error only" },
        { "{'script': [['stream_error', 'rate_limited']]}", "ALLM_ERR_STREAM" },
        { "{'script': [['preflight_error', 'oops']]}", "ALLM_ERR_ADAPTER" },
        { "{'script': [['ok', 'hi']]}", "fields of a response" },
        { "{'script': [['ok', {'output_text': 3}]]}", "is a string" },
        { "{'script': [['ok', {'tool_calls': 3}]]}", "is a list" },
        { "{'script': [['ok', {'tool_calls': [1]}]]}", "both are required" },
        { "{'script': [['ok', {'usage': 1}]]}", "an object with fields" },
        { "{'script': [['ok', {'finish_reason': 'x'}]]}", "stop, length" },
        { "{'script': [['ok', {'message': 'hi'}]]}", "role \"assistant\"" },
        { "{'script': [['ok', {'message': {'role': 'robot'}}]]}",
          "role \"assistant\"" },
        { "{'script': [['ok', {'metadata': []}]]}", "metadata is an object" },
        { "{'script': [['ok', {'id': 7}]]}", "are strings" },
        { "{'script': [['ok', {'model': {}}]]}", "are strings" },
        { "{'script': [['ok']]}", "fields of a response" },
        { "{'script': [['delay', 86400001]]}", "86400000 (a day)" },
        { "{'script': [['delay']]}", "milliseconds" },
        { "{'script': {'text': 'a'}}", "such as [[\"text\", \"hi\"]" },
        { "{'script': [{'text': 'a'}]}", "begins with text" },
        { "{'script': [['usage']]}", "an object with fields" },
        { "{'script': [['usage', {'input_cost': 'x'}]]}",
          "costs are numbers" },
        { "{'script': [['usage', {'extra': 1}]]}", "extra are objects" },
        { "{'script': [['error', 'timeout', {'message': 3}]]}",
          "fields of an error only" },
        { "{'script': [['error', 'timeout', {'metadata': 3}]]}",
          "fields of an error only" },
        { "{'stream_script': [['shout', 'a']]}", "begins with text" },
        { "{'retry_until_call': 1.5, 'script': []}", "1 or more" },
        { "{'retry_until_call': -2, 'script': []}", "1 or more" },
        { "{'record': 1, 'script': []}", "allm_fake_requests()" },
        { "{'scripts': [[], [['text', 'a'], ['text']]]}", "entry 1 of call 1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].opts);
        allm_engine *e = play_engine(rows[i].opts, NULL);
        allm_stream *s = play_call(e);
        CHECK(s && strstr(play_why(s), rows[i].sentence));
        CHECK_TEXT(play_all(s), "misuse invalid_script");
        CHECK(s && !allm_stream_response(s));
        allm_stream_free(s);
        CHECK_INT(allm_fake_calls(e), 0);
        CHECK_INT(allm_fake_released(e), 0);
        allm_engine_free(e);
    }
}

static void raw_chunks_are_shown_on_demand(void)
{
    allm_engine *e = play_engine("{'scripts': [[['raw_chunk', {'a': 1}]],"
                                 " [['raw_chunk', null]]]}",
                                 NULL);
    const allm_call_opts *show = ALLM(call_opts, .include_raw_chunks = 1);
    allm_stream *s = play_call_with(e, show);
    CHECK_TEXT(play_all(s), "started chunk:{\"a\":1} completed:/null ok");
    allm_stream_free(s);
    s = play_call(e);
    CHECK_TEXT(play_all(s), "started completed:/null ok");
    allm_stream_free(s);
    allm_engine_free(e);
}

static void errors_carry_their_fields(void)
{
    allm_engine *e = play_engine(
        "{'scripts': [[['error_event', 'rate_limited', {'status': 429,"
        " 'retry_after_ms': 500, 'message': 'slow down', 'provider': 'p',"
        " 'metadata': {'a': 1}, 'cause': [1]}]],"
        " [['preflight_error', 'rate_limited', {'retry_after_ms': 9}]],"
        " [['error', {'code': 7}]]]}",
        NULL);
    allm_stream *s = play_call(e);
    play_all(s);
    const allm_error *error = allm_stream_error(s);
    if (error && CHECK(error->kind == ALLM_ERR_ADAPTER)) {
        CHECK_TEXT(error->message, "slow down");
        CHECK_TEXT(error->provider, "p");
        CHECK_INT(error->http_status.value, 429);
        CHECK_INT(error->retry_after_ms.value, 500);
        CHECK_INT(allm_json_count(error->metadata), 1);
        CHECK_INT(allm_json_count(error->cause), 1);
    }
    allm_stream_free(s);
    s = play_call(e);
    error = allm_stream_error(s);
    CHECK(error && error->retry_after_ms.value == 9);
    CHECK(error && !strcmp(error->message, "adapter error: rate_limited"));
    allm_stream_free(s);
    s = play_call(e);
    play_all(s);
    error = allm_stream_error(s);
    CHECK(error && allm_json_get(error->cause, "code"));
    allm_stream_free(s);
    allm_engine_free(e);
}

static void a_whole_response_reaches_the_result(void)
{
    allm_engine *e = play_engine(
        "{'script': [['ok', {'id': 'r1', 'model': 'mm', 'message': {'role':"
        " 'assistant', 'content': 'm', 'metadata': {'k': 1}}, 'metadata':"
        " {'a': 2}}]]}",
        NULL);
    allm_stream *s = play_call(e);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_response *r = allm_stream_response(s);
    if (CHECK(r != NULL)) {
        CHECK_TEXT(r->id, "r1");
        CHECK_TEXT(r->model, "mm");
        CHECK_TEXT(r->output_text, "m");
        CHECK(allm_json_get(r->metadata, "a") != NULL);
        CHECK(r->message && allm_json_get(r->message->metadata, "k"));
    }
    allm_stream_free(s);
    allm_engine_free(e);
}

/* ------------------------------------------------------------- position --- */

static void engines_alike_have_their_own_position(void)
{
    const char *opts = "{'script': [['text', 'a']]}";
    allm_engine *a = play_engine(opts, NULL), *b = play_engine(opts, NULL);
    allm_stream *s = play_call(a), *t = play_call(b);
    CHECK_TEXT(play_all(s), "started text:a text=a completed:a/null ok");
    CHECK_TEXT(play_all(t), "started text:a text=a completed:a/null ok");
    allm_stream_free(s);
    allm_stream_free(t);
    allm_engine_free(a);
    allm_engine_free(b);
}

static void derived_engines_share_the_position(void)
{
    allm_engine *a = play_engine("{'scripts': [[['text', 'a']],"
                                 " [['text', 'b']]]}",
                                 NULL);
    allm_engine *b = allm_engine_with_model(a, "fake:other");
    allm_stream *s = play_call(a);
    allm_stream *t = play_call(b);
    CHECK_TEXT(play_all(t), "started text:b text=b completed:b/null ok");
    CHECK_TEXT(play_all(s), "started text:a text=a completed:a/null ok");
    allm_stream_free(s);
    allm_stream_free(t);
    CHECK_INT(allm_fake_calls(a), 2);
    CHECK_INT(allm_fake_calls(b), 2);
    CHECK_INT(allm_fake_released(a), 2);
    allm_engine_free(a);
    allm_engine_free(b);
}

static void a_cursor_is_shared_by_choice(void)
{
    const char *opts = "{'scripts': [[['text', 'a']], [['text', 'b']]]}";
    allm_engine *a = play_engine(opts, NULL), *b = play_engine(opts, NULL);
    allm_fake_cursor *c = allm_fake_cursor_new();
    CHECK_INT(allm_fake_cursor_index(c), 0);
    CHECK_INT(allm_fake_use_cursor(a, c), ALLM_OK);
    CHECK_INT(allm_fake_use_cursor(b, c), ALLM_OK);
    allm_stream *s = play_call(a), *t = play_call(b);
    CHECK_INT(allm_fake_cursor_index(c), 2);
    CHECK_TEXT(play_all(t), "started text:b text=b completed:b/null ok");
    CHECK_INT(allm_fake_use_cursor(a, c), ALLM_ERR_MISUSE);
    allm_fake_cursor_free(c);   /* the engines keep it */
    allm_stream_free(s);
    allm_stream_free(t);
    s = play_call(a);
    CHECK_TEXT(play_all(s), "adapter no_scripted_response");
    allm_stream_free(s);
    allm_engine_free(a);
    allm_engine_free(b);
}

static void an_empty_script_says_so(void)
{
    allm_engine *e = play_engine("{'scripts': []}", NULL);
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_why(s), "no scripted response");
    CHECK(s && !allm_stream_response(s));
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_ADAPTER);
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_ADAPTER);
    allm_stream_free(s);
    CHECK_INT(allm_fake_released(e), 0);
    allm_engine_free(e);
}

static void nothing_is_accepted_instead_of_an_engine(void)
{
    CHECK_INT(allm_fake_calls(NULL), 0);
    CHECK_INT(allm_fake_released(NULL), 0);
    CHECK(!allm_fake_requests(NULL));
    CHECK_INT(allm_fake_cursor_index(NULL), 0);
    CHECK_INT(allm_fake_use_cursor(NULL, NULL), ALLM_ERR_NOMEM);
    allm_fake_cursor_free(NULL);
}

/* ------------------------------------------------------------- failures --- */

static void passing_failures_are_tried_again(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = play_engine("{'retry_until_call': 3, 'script':"
                                 " [['text', 'a']], 'record': true}",
                                 &clock);
    allm_stream *s = play_call(e);
    CHECK(s && !allm_stream_error(s));
    CHECK_TEXT(play_all(s), "started text:a text=a completed:a/null ok");
    CHECK(clock.now_ns >= INT64_C(1500000000));     /* 500 and 1000 ms */
    CHECK(clock.now_ns <= INT64_C(2000000000));
    CHECK_INT(allm_fake_calls(e), 3);
    CHECK_INT(allm_fake_released(e), 1);
    allm_json *seen = allm_fake_requests(e);
    CHECK_INT(allm_json_count(seen), 3);
    allm_json_free(seen);
    allm_stream_free(s);
    allm_engine_free(e);
}

static void patience_has_an_end(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = play_engine("{'retry_until_call': 4, 'script':"
                                 " [['text', 'a']]}",
                                 &clock);
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_all(s), "adapter timeout");
    allm_stream_free(s);
    CHECK_INT(allm_fake_calls(e), 3);
    s = play_call(e);           /* the fourth; the position has not moved */
    CHECK_TEXT(play_all(s), "started text:a text=a completed:a/null ok");
    allm_stream_free(s);
    CHECK_INT(allm_fake_released(e), 1);
    allm_engine_free(e);
}

static void scripted_failures_are_final(void)
{
    allm_engine *e = play_engine("{'script': [['preflight_error',"
                                 " 'timeout']]}",
                                 NULL);
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_all(s), "adapter timeout");
    allm_stream_free(s);
    CHECK_INT(allm_fake_calls(e), 1);
    allm_engine_free(e);
}

/* -------------------------------------------------------------- release --- */

/* Pull so many events of a stream, then let it go. */
static void released_after(const char *why, int pulls)
{
    const allm_event *event;
    check_row(why);
    allm_engine *e = play_engine("{'script': [['text', 'a'], ['text', 'b'],"
                                 " ['finish', 'stop']]}",
                                 NULL);
    allm_stream *s = play_call(e);
    CHECK_INT(allm_fake_released(e), 0);
    for (int i = 0; i < pulls; i++)
        allm_stream_next(s, &event);
    allm_stream_free(s);
    CHECK_INT(allm_fake_released(e), 1);
    allm_engine_free(e);
}

static void each_stream_is_released_once(void)
{
    released_after("never pulled", 0);
    released_after("stopped early", 2);
    released_after("stopped before the end", 5);
    released_after("at the end", 6);
    released_after("pulled beyond the end", 9);
}

static void release_comes_with_the_end(void)
{
    allm_engine *e = play_engine("{'script': [['text', 'a']]}", NULL);
    allm_stream *s = play_call(e);
    allm_stream_wait(s);
    CHECK_INT(allm_fake_released(e), 1);
    allm_stream_cancel(s);
    allm_stream_wait(s);
    allm_stream_free(s);
    CHECK_INT(allm_fake_released(e), 1);
    allm_engine_free(e);
}

static void a_cancelled_stream_is_released(void)
{
    const allm_event *event;
    allm_engine *e = play_engine("{'script': [['text', 'a'], ['text', 'b']]}",
                                 NULL);
    allm_stream *s = play_call(e);
    allm_stream_next(s, &event);
    allm_stream_next(s, &event);
    allm_stream_cancel(s);
    CHECK_TEXT(play_all(s), "ok");
    CHECK_INT(allm_fake_released(e), 1);
    allm_stream_free(s);
    CHECK_INT(allm_fake_released(e), 1);
    allm_engine_free(e);
}

/* ----------------------------------------------------------------- time --- */

static void delays_use_the_clock_of_the_engine(void)
{
    struct clock_manual clock = { 1000, 0 };
    const allm_event *event;
    allm_engine *e = play_engine("{'script': [['delay', 5000], ['text', 'a'],"
                                 " ['sleep', 250], ['delay', 0],"
                                 " ['finish', 'stop']]}",
                                 &clock);
    allm_stream *s = play_call(e);
    CHECK_INT(allm_stream_next(s, &event), ALLM_EVENT);
    CHECK_INT(clock.now_ns, 1000);      /* message_started does not wait */
    CHECK_INT(allm_stream_next(s, &event), ALLM_EVENT);
    CHECK_INT(clock.now_ns, INT64_C(5000001000));
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_INT(clock.now_ns, INT64_C(5250001000));
    CHECK_INT(clock.unix_ms, 5250);
    allm_stream_free(s);
    allm_engine_free(e);
}

static void real_delays_are_waited_for(void)
{
    struct clock real = clock_real();
    int64_t began = clock_now_ns(real);
    CHECK_TEXT(play_once("{'script': [['delay', 2], ['text', 'a']]}"),
               "started text:a text=a completed:a/null ok");
    CHECK(clock_now_ns(real) - began >= 2000000);
}

/* -------------------------------------------------------- usage, record --- */

static void usage_of_the_options_counts(void)
{
    allm_engine *e = play_engine(
        "{'usage': {'input_tokens': 9}, 'scripts': [[['usage',"
        " {'input_tokens': 1, 'output_tokens': 2}], ['text', 'a']], []]}",
        NULL);
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_all(s),
               "started text:a usage:9/0 text=a completed:a/null ok");
    const allm_response *r = allm_stream_response(s);
    CHECK(r && r->usage->input_tokens.value == 9 &&
          !r->usage->output_tokens.set);
    allm_stream_free(s);
    s = play_call(e);
    CHECK_TEXT(play_all(s), "started usage:9/0 completed:/null ok");
    allm_stream_free(s);
    allm_engine_free(e);
}

static void records_requests_as_the_adapter_gets_them(void)
{
    allm_engine *e = play_engine("{'record': true, 'scripts': [[]]}", NULL);
    allm_stream *s = play_call_with(e, ALLM(call_opts, .model = "fake:z"));
    allm_stream_free(s);
    s = play_call(e);           /* exhausted, but seen */
    allm_stream_free(s);
    allm_json *seen = allm_fake_requests(e);
    CHECK_INT(allm_json_count(seen), 2);
    CHECK_TEXT(allm_json_text(allm_json_pointer(seen, "/0/model"), NULL),
               "fake:z");
    CHECK_TEXT(allm_json_text(allm_json_pointer(seen, "/1/model"), NULL),
               "fake:m");
    CHECK_TEXT(allm_json_text(allm_json_pointer(seen, "/0/messages/0/content"),
                              NULL),
               "hi");
    allm_json_free(seen);
    allm_engine_free(e);

    e = play_engine("{'scripts': [[]]}", NULL);
    s = play_call(e);
    allm_stream_free(s);
    seen = allm_fake_requests(e);
    CHECK_INT(allm_json_count(seen), 0);        /* not requested */
    allm_json_free(seen);
    allm_engine_free(e);
}

/* ------------------------------------------------------- script library --- */

static void check_script(const char *why, allm_json *script, const char *events)
{
    struct clock_manual clock = { 0, 0 };
    check_row(why);
    allm_json *opts = play_json("{}");
    allm_json *all = allm_json_set(opts, "script", script);
    allm_text *text = allm_json_write(all, 0);
    const char *bytes = allm_text_bytes(text, NULL);
    allm_engine *e = play_engine(bytes ? bytes : "{}", &clock);
    allm_stream *s = play_call(e);
    CHECK_TEXT(play_all(s), events);
    allm_stream_free(s);
    allm_engine_free(e);
    allm_text_free(text);
    allm_json_free(all);
    allm_json_free(opts);
    allm_json_free(script);
}

static void scripts_of_the_library(void)
{
    allm_json *args = play_json("{'x': 1}");
    allm_json *calls = play_json("[['f', {'x': 1}], ['g', {}]]");
    check_script("plain_text", allm_fake_plain_text("hey"),
                 "started text:hey text=hey completed:hey/stop ok");
    check_script("plain_text by default", allm_fake_plain_text(NULL),
                 "started text:Hello world text=Hello world "
                 "completed:Hello world/stop ok");
    check_script("single_tool_call", allm_fake_single_tool_call("f", args),
                 "started call:call_0/f called:call_0/f/{\"x\":1}/{\"x\":1} "
                 "completed:/tool_calls ok");
    check_script("parallel_tool_calls", allm_fake_parallel_tool_calls(calls),
                 "started call:call_0/f called:call_0/f/{\"x\":1}/{\"x\":1} "
                 "call:call_1/g called:call_1/g/{}/{} "
                 "completed:/tool_calls ok");
    check_script("streamed_arguments", allm_fake_streamed_arguments("f", args),
                 "started args:call_1/{\"x args:call_1/\":1} "
                 "completed:/tool_calls ok");
    check_script("mid_stream_error", allm_fake_mid_stream_error("rate_limited"),
                 "started text:partial error:adapter/rate_limited "
                 "text=partial completed:partial/null ok");
    check_script("delayed_text", allm_fake_delayed_text("late", 10),
                 "started text:late text=late completed:late/stop ok");
    check_script("empty_response", allm_fake_empty_response(),
                 "started completed:/stop ok");
    allm_json_free(args);
    allm_json_free(calls);
}

static void arguments_are_cut_between_characters(void)
{
    allm_json *args = play_json("{'ä': 'öü'}");
    allm_json *script = allm_fake_streamed_arguments(NULL, args);
    CHECK_TEXT(allm_json_text(allm_json_pointer(script, "/0/1/arguments_delta"),
                              NULL),
               "{\"ä\":");
    CHECK_TEXT(allm_json_text(allm_json_pointer(script, "/1/1/arguments_delta"),
                              NULL),
               "\"öü\"}");
    allm_json_free(script);
    allm_json_free(args);
}

static void the_library_refuses_what_it_cannot_script(void)
{
    allm_json *list = play_json("[['f'], [3]]");
    allm_json *bad[] = { allm_fake_single_tool_call(NULL, NULL),
                         allm_fake_parallel_tool_calls(NULL),
                         allm_fake_parallel_tool_calls(list) };
    for (size_t i = 0; i < 3; i++) {
        const allm_error *e = allm_json_error(bad[i]);
        CHECK(e && e->kind == ALLM_ERR_MISUSE);
        CHECK_INT(allm_json_type_of(bad[i]), ALLM_JSON_NONE);
        allm_json_free(bad[i]);
    }
    allm_json_free(list);
}

TESTS = {
    TEST(plays_each_entry),
    TEST(chooses_the_script),
    TEST(refuses_what_cannot_be_meant),
    TEST(raw_chunks_are_shown_on_demand),
    TEST(errors_carry_their_fields),
    TEST(a_whole_response_reaches_the_result),
    TEST(engines_alike_have_their_own_position),
    TEST(derived_engines_share_the_position),
    TEST(a_cursor_is_shared_by_choice),
    TEST(an_empty_script_says_so),
    TEST(nothing_is_accepted_instead_of_an_engine),
    TEST(passing_failures_are_tried_again),
    TEST(patience_has_an_end),
    TEST(scripted_failures_are_final),
    TEST(each_stream_is_released_once),
    TEST(release_comes_with_the_end),
    TEST(a_cancelled_stream_is_released),
    TEST(delays_use_the_clock_of_the_engine),
    TEST(real_delays_are_waited_for),
    TEST(usage_of_the_options_counts),
    TEST(records_requests_as_the_adapter_gets_them),
    TEST(scripts_of_the_library),
    TEST(arguments_are_cut_between_characters),
    TEST(the_library_refuses_what_it_cannot_script),
    TESTS_END,
};
