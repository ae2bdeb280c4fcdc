/* test_call_http.c - calls over real sockets: alone and in a hub */
#include "harness/check.h"
#include "harness/play.h"
#include "harness/server.h"

#include "allm.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define KEY  "sk-test-0123456789"
#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
             "Content-Length: 178\r\nX-Request-Id: r1\r\n\r\n"
#define HI   "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":" \
             "{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n"
#define STOP "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{}," \
             "\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"

static const struct server_step good[] = { SERVER_SAY(HEAD HI STOP DONE),
                                           SERVER_END };

/* An engine for that server, on the real clock. */
static allm_engine *engine_for(struct server *s, const allm_transport *t)
{
    char opts[128];
    snprintf(opts, sizeof opts, "{\"base_url\": \"http://127.0.0.1:%d/v1\"}",
             server_port(s));
    allm_json *json = allm_json_parse(opts, ALLM_NUL_ENDED, NULL);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "openai:m",
                                          .adapter_opts = json, .transport = t,
                                          .net = ALLM(net_opts, .proxy = "")));
    allm_json_free(json);
    return e;
}

static allm_stream *ask(const allm_engine *e)
{
    return play_call_with(e, ALLM(call_opts, .api_key = KEY));
}

static const char *answer_of(allm_stream *s)
{
    const allm_response *r = allm_stream_response(s);
    return r ? r->output_text : "";
}

static void lone_streams_use_a_connection_again(void)
{
    struct server *server = server_new();
    if (!server)
        return;
    server_play_always(server, good);
    allm_engine *e = engine_for(server, NULL);
    for (int i = 0; i < 5; i++) {
        allm_stream *s = ask(e);
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        CHECK(!allm_stream_error(s));
        CHECK_TEXT(answer_of(s), "Hi");
        allm_stream_free(s);
    }
    CHECK_INT(server_look(server).connections, 1);
    CHECK(strstr(server_request(server, 0),
                 "authorization: Bearer sk-test-0123456789"));
    CHECK(strstr(server_request(server, 0), "POST /v1/chat/completions"));
    allm_engine_free(e);
    server_free(server);
}

static void many_streams_in_a_hub(void)
{
    enum { MANY = 20 };
    struct server *server = server_new();
    if (!server)
        return;
    server_play_always(server, good);
    allm_engine *e = engine_for(server, NULL);
    allm_hub *hub = allm_hub_new(NULL);
    size_t whole = 0;
    for (int i = 0; i < MANY; i++)
        allm_hub_add(hub, ask(e), NULL);
    for (allm_stream *s; (s = allm_hub_wait(hub, 10000, NULL));) {
        const allm_event *event;
        allm_status status;
        while ((status = allm_stream_next(s, &event)) == ALLM_EVENT)
            ;
        if (status == ALLM_AGAIN)
            continue;
        whole += status == ALLM_OK && !strcmp(answer_of(s), "Hi");
        allm_stream_free(s);
    }
    CHECK_INT(whole, MANY);
    allm_hub_free(hub);
    allm_engine_free(e);
    server_free(server);
}

static void failures_are_named(void)
{
    static const struct server_step refused[] = {
        SERVER_SAY("HTTP/1.1 401 No\r\nContent-Length: 61\r\n\r\n"
                   "{\"error\":{\"message\":\"bad key sk-test-0123456789\"}}"
                   "           "),
        SERVER_END
    };
    static const struct server_step cut[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "Connection: close\r\n\r\n" HI),
        SERVER_CLOSE
    };
    struct server *server = server_new();
    if (!server)
        return;
    allm_engine *e = engine_for(server, NULL);
    server_play(server, refused);
    allm_stream *s = ask(e);
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_ADAPTER);
    CHECK_TEXT(allm_stream_error(s)->reason, "authentication_failed");
    CHECK(!strstr(allm_stream_error(s)->message, "sk-test"));
    allm_stream_free(s);
    server_play(server, cut);
    s = ask(e);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(allm_stream_error(s)->reason, "truncated");
    CHECK_TEXT(answer_of(s), "Hi");
    allm_stream_free(s);
    allm_engine_free(e);
    server_free(server);
}

/* A server that names its answer by the key it was sent. */
static void an_answer_that_repeats_the_key_is_cleaned(void)
{
    static const struct server_step echo[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "Connection: close\r\nX-Request-Id: r-" KEY "\r\n\r\n"
                   "data: {\"id\":\"a-" KEY "\",\"model\":\"m-" KEY "\","
                   "\"system_fingerprint\":\"" KEY "\","
                   "\"choices\":[{\"index\":0,\"delta\":"
                   "{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}"
                   "\n\n" DONE),
        SERVER_CLOSE
    };
    struct server *server = server_new();
    if (!server)
        return;
    allm_engine *e = engine_for(server, NULL);
    server_play(server, echo);
    allm_stream *s = ask(e);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    const allm_response *r = allm_stream_response(s);
    CHECK_TEXT(r ? r->id : "", "a-[REDACTED]");
    CHECK_TEXT(r ? r->model : "", "m-[REDACTED]");
    allm_text *all = r ? allm_response_json(r, ALLM_FORM_PLAIN) : NULL;
    const char *shown = all ? allm_text_bytes(all, NULL) : "";
    CHECK_WHY(strstr(shown, "\"openai_request_id\":\"r-[REDACTED]\""), shown);
    CHECK_WHY(!strstr(shown, KEY), shown);
    allm_text_free(all);
    allm_stream_free(s);
    allm_engine_free(e);
    server_free(server);
}

static void *cancel(void *stream)
{
    allm_stream_cancel(stream);
    return NULL;
}

/* A server that says nothing any more: another thread ends the wait. */
static void a_wait_can_be_cancelled(void)
{
    static const struct server_step half[] = { SERVER_SAY(HEAD HI),
                                               SERVER_PAUSE, SERVER_END };
    struct server *server = server_new();
    pthread_t thread;
    const allm_event *event;
    if (!server)
        return;
    server_play(server, half);
    allm_engine *e = engine_for(server, NULL);
    allm_stream *s = ask(e);
    CHECK_INT(allm_stream_next(s, &event), ALLM_EVENT);
    if (pthread_create(&thread, NULL, cancel, s) == 0) {
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        pthread_join(thread, NULL);
        CHECK_TEXT(allm_stream_error(s)->reason, "cancelled");
    }
    allm_stream_free(s);
    allm_engine_free(e);
    server_free(server);
}

/* What went over the socket is played again without one. */
static void exchanges_are_recorded_and_replayed(void)
{
    struct server *server = server_new();
    if (!server)
        return;
    server_play(server, good);
    allm_recorder *record = allm_recorder_new(NULL, NULL);
    allm_engine *e = engine_for(server, allm_recorder_transport(record));
    allm_stream *s = ask(e);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(answer_of(s), "Hi");
    allm_stream_free(s);
    allm_engine_free(e);
    allm_text *text = allm_recorder_text(record);
    CHECK(text && !strstr(allm_text_bytes(text, NULL), "sk-test"));
    allm_player *replay = allm_player_new(
        NULL, ALLM(player_opts, .text = allm_text_bytes(text, NULL)));
    e = engine_for(server, allm_player_transport(replay));
    s = ask(e);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(answer_of(s), "Hi");
    CHECK_INT(server_look(server).requests, 1);
    allm_stream_free(s);
    allm_engine_free(e);
    allm_player_free(replay);
    allm_text_free(text);
    allm_recorder_free(record);
    server_free(server);
}

TESTS = {
    TEST_ONCE(lone_streams_use_a_connection_again),
    TEST_ONCE(many_streams_in_a_hub),
    TEST_ONCE(failures_are_named),
    TEST_ONCE(an_answer_that_repeats_the_key_is_cleaned),
    TEST_ONCE(a_wait_can_be_cancelled),
    TEST_ONCE(exchanges_are_recorded_and_replayed),
    TESTS_END,
};
