/*
 * test_hold_http.c - streams over real sockets that are held, or not pulled
 *
 * tag: thread
 * tag: clock
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/server.h"

#include <poll.h>

enum { PATIENCE = 20000 };      /* ms; only a broken test waits so long */
enum { SOON = 50 };             /* ms in which something should not happen */
enum { FLOOD = 64 << 20 };

#define HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
             "Connection: close\r\n\r\n"
#define EVENT(text) \
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" \
    text "\"},\"finish_reason\":null}]}\n\n"
#define LAST \
    "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{}," \
    "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

static const struct server_step good[] = { SERVER_SAY(HEAD EVENT("a") LAST),
                                           SERVER_CLOSE };
static const struct server_step slow[] = { SERVER_SAY(HEAD EVENT("a")),
                                           SERVER_PAUSE,
                                           SERVER_SAY(EVENT("b") LAST),
                                           SERVER_CLOSE };

struct bench {
    struct server *server;
    allm_engine *engine;
    allm_hub *hub;
};

static bool begin(struct bench *b)
{
    b->server = server_new();
    if (!b->server) {
        check_skip("there are no sockets here");
        return false;
    }
    b->engine = play_engine_at(server_port(b->server));
    b->hub = allm_hub_new(NULL);
    return true;
}

static void end(struct bench *b)
{
    allm_hub_free(b->hub);
    allm_engine_free(b->engine);
    server_free(b->server);
}

static allm_stream *ask(struct bench *b, const allm_json *json)
{
    allm_stream *s = play_call_with(b->engine, ALLM(call_opts, .api_key = "k",
                                                    .json = json));
    CHECK_INT(allm_hub_add(b->hub, s, NULL), ALLM_OK);
    return s;
}

static allm_status drain(allm_stream *s)
{
    allm_status status;
    while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
        ;
    return status;
}

/* Visit the stream until it has given an event of this type. */
static void run_to(struct bench *b, allm_stream *s, allm_event_type type)
{
    const allm_event *event;
    while (CHECK(allm_hub_wait(b->hub, PATIENCE, NULL) == s))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            if (event->type == type)
                return;
}

static allm_status run_to_end(struct bench *b, allm_stream *s)
{
    allm_status status = ALLM_AGAIN;
    while (status == ALLM_AGAIN &&
           CHECK(allm_hub_wait(b->hub, PATIENCE, NULL) == s))
        status = drain(s);
    return status;
}

static void check_end(const allm_stream *s, const char *text,
                      const char *reason)
{
    const allm_response *r = allm_stream_response(s);
    const allm_error *error = allm_stream_error(s);
    CHECK_TEXT(r ? r->output_text : "", text);
    CHECK_TEXT(error ? error->reason : "", reason);
}

/* One that is named again and again, and never pulled. */
static void a_stream_that_is_not_pulled_starves_no_other(void)
{
    struct bench b;
    enum { OTHERS = 5 };
    allm_stream *others[OTHERS];
    size_t ended = 0, waits = 0;
    if (!begin(&b))
        return;
    server_play_always(b.server, good);
    allm_stream *lazy = ask(&b, NULL);
    CHECK(allm_hub_wait(b.hub, PATIENCE, NULL) == lazy);
    for (int i = 0; i < OTHERS; i++)
        others[i] = ask(&b, NULL);
    while (ended < OTHERS && CHECK(waits < 5000000)) {
        allm_stream *s = allm_hub_wait(b.hub, PATIENCE, NULL);
        waits++;
        ended += s && s != lazy && drain(s) != ALLM_AGAIN;
    }
    for (int i = 0; i < OTHERS; i++) {
        check_end(others[i], "a", "");
        allm_stream_free(others[i]);
    }
    CHECK_INT(run_to_end(&b, lazy), ALLM_OK);
    check_end(lazy, "a", "");
    allm_stream_free(lazy);
    end(&b);
}

/* All of its answer comes while it is held. */
static void bytes_that_come_are_not_named(void)
{
    struct bench b;
    if (!begin(&b))
        return;
    server_play_always(b.server, slow);
    allm_stream *s = ask(&b, NULL);
    run_to(&b, s, ALLM_EV_TEXT_DELTA);
    allm_stream_hold(s, true);
    server_go(b.server);
    CHECK(!allm_hub_wait(b.hub, SOON, NULL));
    CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
    struct pollfd fd = { .fd = allm_hub_fd(b.hub), .events = POLLIN };
    CHECK_INT(poll(&fd, 1, SOON), 0);   /* a loop around it sleeps */
    allm_stream_hold(s, false);
    CHECK_INT(run_to_end(&b, s), ALLM_OK);
    check_end(s, "ab", "");
    allm_stream_free(s);
    end(&b);
}

/* A server that sends on and on must wait; another stream does not. */
static void what_is_buffered_is_bounded(void)
{
    static const struct server_step flood[] = {
        SERVER_SAY(HEAD EVENT("a") ": "),
        SERVER_FLOOD(FLOOD),
        SERVER_SAY("\n\n" EVENT("b") LAST),
        SERVER_CLOSE,
    };
    struct bench b;
    if (!begin(&b))
        return;
    server_play(b.server, flood);
    server_play(b.server, good);
    allm_stream *s = ask(&b, NULL);
    run_to(&b, s, ALLM_EV_TEXT_DELTA);
    allm_stream_hold(s, true);
    allm_stream *other = ask(&b, NULL);
    CHECK_INT(run_to_end(&b, other), ALLM_OK);
    check_end(other, "a", "");
    for (int i = 0; i < 10; i++)
        CHECK(!allm_hub_wait(b.hub, SOON, NULL));
    CHECK(server_look(b.server).stalls > 0);
    CHECK(server_look(b.server).sent < FLOOD / 2);
    allm_stream_free(other);
    allm_stream_free(s);
    end(&b);
}

/* ------------------------------------------------------------- failures --- */

static void a_connection_that_breaks_is_named(void)
{
    static const struct server_step cut[] = { SERVER_SAY(HEAD EVENT("a")),
                                              SERVER_PAUSE,
                                              SERVER_SAY(EVENT("b")),
                                              SERVER_RESET };
    struct bench b;
    if (!begin(&b))
        return;
    server_play(b.server, cut);
    allm_stream *s = ask(&b, NULL);
    run_to(&b, s, ALLM_EV_TEXT_DELTA);
    allm_stream_hold(s, true);
    CHECK(!allm_hub_wait(b.hub, SOON, NULL));
    server_go(b.server);
    CHECK_INT(run_to_end(&b, s), ALLM_OK);
    CHECK(allm_stream_error(s) != NULL);
    allm_stream_free(s);
    end(&b);
}

static void a_refusal_is_named(void)
{
    static const struct server_step refused[] = {
        SERVER_PAUSE,
        SERVER_SAY("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}"),
        SERVER_END
    };
    struct bench b;
    if (!begin(&b))
        return;
    server_play(b.server, refused);
    allm_stream *s = ask(&b, NULL);
    CHECK(allm_hub_wait(b.hub, PATIENCE, NULL) == s);
    CHECK_INT(drain(s), ALLM_AGAIN);
    allm_stream_hold(s, true);
    CHECK(!allm_hub_wait(b.hub, SOON, NULL));
    server_go(b.server);
    CHECK_INT(run_to_end(&b, s), ALLM_ERR_ADAPTER);
    check_end(s, "", "authentication_failed");
    allm_stream_free(s);
    end(&b);
}

/* A failure that can be retried is reported, but not retried while held. */
static void nothing_is_tried_again_while_it_is_held(void)
{
    static const struct server_step busy[] = {
        SERVER_PAUSE,
        SERVER_SAY("HTTP/1.1 503 No\r\nContent-Length: 2\r\n"
                   "Retry-After: 0\r\n\r\n{}"),
        SERVER_END
    };
    struct bench b;
    if (!begin(&b))
        return;
    server_play(b.server, busy);
    server_play(b.server, good);
    allm_stream *s = ask(&b, NULL);
    CHECK(allm_hub_wait(b.hub, PATIENCE, NULL) == s);
    CHECK_INT(drain(s), ALLM_AGAIN);
    allm_stream_hold(s, true);
    server_go(b.server);
    CHECK(allm_hub_wait(b.hub, PATIENCE, NULL) == s);
    CHECK_INT(drain(s), ALLM_AGAIN);
    CHECK(!allm_hub_wait(b.hub, SOON, NULL));
    CHECK_INT(server_look(b.server).requests, 1);
    allm_stream_hold(s, false);
    CHECK_INT(run_to_end(&b, s), ALLM_OK);
    check_end(s, "a", "");
    CHECK_INT(server_look(b.server).requests, 2);
    allm_stream_free(s);
    end(&b);
}

TESTS = {
    TEST_ONCE(a_stream_that_is_not_pulled_starves_no_other),
    TEST_ONCE(bytes_that_come_are_not_named),
    TEST_ONCE(what_is_buffered_is_bounded),
    TEST_ONCE(a_connection_that_breaks_is_named),
    TEST_ONCE(a_refusal_is_named),
    TEST_ONCE(nothing_is_tried_again_while_it_is_held),
    TESTS_END,
};
