/*
 * test_privacy.c - what a store contains, byte by byte
 *
 * No key is ever in it; after a session was removed, nothing of it is.
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/stored.h"
#include "harness/turns.h"

#include <stdio.h>

#define SECRET "topsecret"
#define KEY "sk-neverstored"

/* A long answer, which becomes a blob, after a call with a short result. */
static const char *make_scripts(void)
{
    static char text[6000];
    char filler[5001];
    memset(filler, 'x', 5000);
    filler[5000] = '\0';
    snprintf(text, sizeof text,
             "[[['tool_call', {'id': 'c', 'name': 'echo', 'arguments': "
             "{'v': '" SECRET "'}}], ['finish', 'tool_calls']], "
             "[['text', '%s" SECRET "'], ['finish', 'stop']]]",
             filler);
    return text;
}

static void talk(allm_store *store)
{
    allm_engine *e = turns_engine(make_scripts(), "echo=echo", NULL);
    allm_session *s = allm_session_open(store, "s", ALLM_SESSION_CREATE);
    allm_stream *stream = allm_session_reply(e, s, SECRET,
                                             ALLM(call_opts, .api_key = KEY));
    allm_stream_wait(stream);
    const allm_error *error = allm_stream_error(stream);
    CHECK_TEXT(error ? error->message : NULL, NULL);
    allm_stream_free(stream);
    allm_session_free(s);
    allm_engine_free(e);
    CHECK_INT(allm_store_send(
                  store, "s",
                  ALLM(message, .role = ALLM_ROLE_USER, .text = SECRET), NULL),
              ALLM_OK);
}

static void keeps_secrets(const char *uri)
{
    allm_store *store = stored_open(uri, NULL);
    talk(store);
    CHECK(stored_contains(uri, SECRET));
    CHECK(!stored_contains(uri, KEY));
    CHECK_INT(allm_store_remove(store, "s"), ALLM_OK);
    CHECK(!stored_contains(uri, SECRET));
    allm_store_free(store);
    CHECK(!stored_contains(uri, SECRET));
}

static void sqlite_keeps_secrets(void)
{
    stored_in_file(keeps_secrets);
}

static void server_keeps_secrets(void)
{
    stored_on_server(keeps_secrets, false);
}

static void pooler_keeps_secrets(void)
{
    stored_on_server(keeps_secrets, true);
}

TESTS = {
    TEST_ONCE(sqlite_keeps_secrets),
    TEST_ONCE(server_keeps_secrets),
    TEST_ONCE(pooler_keeps_secrets),
    TESTS_END
};
