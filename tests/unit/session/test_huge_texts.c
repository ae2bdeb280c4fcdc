/*
 * test_huge_texts.c - strings that are too long for a record, by one byte
 *
 * Only a file-sized text shows that the limit holds from end to end, so these
 * tests run once, on a store in memory.
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/crash.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 256 * 1024 * 1024, LEN = LIMIT + 1 };

static char *text;              /* of LEN bytes */

static bool make_text(void)
{
    text = malloc((size_t)LEN + 1);
    if (!text)
        return false;
    memset(text, 'x', LEN);
    text[LEN] = '\0';
    return true;
}

static const char *reason_of(const allm_error *e)
{
    return e ? e->reason : NULL;
}

/* A message, and a message that is sent: the error names the record or the
 * size, and the session works afterwards. */
static void refuses_messages(void)
{
    if (!make_text())
        return;
    crash_begin(false);
    allm_store *store = crash_open(0, false);
    const allm_message m = { .size = sizeof m, .role = ALLM_ROLE_USER,
                             .text = text, .text_len = LEN };
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_CREATE);
    CHECK_INT(allm_session_append_user(s, "one"), ALLM_OK);
    CHECK_INT(allm_session_append(s, &m), ALLM_ERR_STORE);
    const allm_error *e = allm_session_error(s);
    CHECK_TEXT(reason_of(e), "record_too_large");
    CHECK(e && strstr(e->message, "record 3 has a string of 268435457"));
    CHECK_INT(allm_session_append_user(s, "two"), ALLM_OK);
    CHECK_TEXT(turns_messages(allm_session_thread(s)), "u:one u:two");
    CHECK_INT(allm_store_send(store, "trip", &m, NULL), ALLM_ERR_STORE);
    CHECK_TEXT(reason_of(allm_store_error(store)), "record_too_large");
    allm_session_free(s);
    allm_store_free(store);
    crash_end();
    free(text);
}

static void answer_with_text(allm_tool_run *run, const allm_json *args,
                             void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, text, LEN);
}

/* The result of a tool becomes a failed one, which the model is told. */
static void a_result_becomes_a_failure(void)
{
    if (!make_text())
        return;
    allm_json *schema = play_json("{}");
    const allm_tool tool = { .size = sizeof tool, .name = "read",
                             .description = "Reads.", .schema = schema,
                             .call = answer_with_text };
    const allm_tool *tools[] = { &tool };
    allm_json *opts = play_json(
        "{'scripts': [[['tool_call', {'id': 'c', 'name': 'read', 'arguments': "
        "{}}], ['finish', 'tool_calls']], [['text', 'done'], ['finish', "
        "'stop']]]}");
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .adapter_opts = opts, .tool_count = 1,
                                          .tools = tools));
    crash_begin(false);
    allm_store *store = crash_open(0, false);
    allm_session *s = allm_session_open(store, "trip", ALLM_SESSION_CREATE);
    allm_stream *stream = allm_session_reply(e, s, "go", NULL);
    allm_stream_wait(stream);
    CHECK_TEXT(reason_of(allm_stream_error(stream)), NULL);
    allm_stream_free(stream);
    allm_session_free(s);
    s = allm_session_open(store, "trip", 0);
    const allm_message *m = allm_thread_at(allm_session_thread(s), 2);
    CHECK(m && m->text && m->text_len < 1000 &&
          strstr(m->text, "the result has 268435457 bytes"));
    CHECK_INT(allm_thread_count(allm_session_thread(s)), 4);
    allm_session_free(s);
    allm_store_free(store);
    crash_end();
    allm_engine_free(e);
    allm_json_free(opts);
    allm_json_free(schema);
    free(text);
}

TESTS = {
    TEST_ONCE(refuses_messages),
    TEST_ONCE(a_result_becomes_a_failure),
    TESTS_END,
};
