/*
 * test_connections.c - how many connections many clients open
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/server.h"

#include <pthread.h>

enum { CLIENTS = 16, CALLS = 20 };
enum { PATIENCE = 20000 };      /* ms; only a broken test waits so long */

#define DATA "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":" \
             "{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n" \
             "data: [DONE]\n\n"

_Static_assert(sizeof DATA == 105, "as the Content-Length says");

static const struct server_step good[] = {
    SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
               "Content-Length: 104\r\n\r\n" DATA),
    SERVER_END
};

static struct server *begin(void)
{
    struct server *s = server_new();
    if (s)
        server_play_always(s, good);
    else
        check_skip("there are no sockets here");
    return s;
}

static allm_stream *ask(const allm_engine *e)
{
    return play_call_with(e, ALLM(call_opts, .api_key = "k"));
}

/* True: the stream has ended. */
static bool pull(allm_stream *s)
{
    allm_status status;
    while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
        ;
    if (status == ALLM_AGAIN)
        return false;
    CHECK_INT(status, ALLM_OK);
    CHECK(!allm_stream_error(s));
    allm_stream_free(s);
    return true;
}

/* Bursts: all begin, and then all have ended. */
static void run_bursts(allm_hub *hub, const allm_engine *e)
{
    for (int i = 0; i < CALLS; i++) {
        size_t left = CLIENTS;
        for (int k = 0; k < CLIENTS; k++)
            allm_hub_add(hub, ask(e), NULL);
        for (allm_stream *s; left; left -= s && pull(s))
            if (!CHECK((s = allm_hub_wait(hub, PATIENCE, NULL)) != NULL))
                return;
    }
}

static size_t connections_of_a_hub(uint32_t max)
{
    struct server *server = begin();
    if (!server)
        return 0;
    allm_engine *e = play_engine_at(server_port(server));
    allm_hub *hub = allm_hub_new(ALLM(
        hub_opts, .net = ALLM(net_opts, .proxy = "", .max_connections = max)));
    run_bursts(hub, e);
    size_t seen = server_look(server).connections;
    CHECK_INT(server_look(server).requests, CLIENTS * CALLS);
    allm_hub_free(hub);
    allm_engine_free(e);
    server_free(server);
    return seen;
}

static void clients_of_a_hub_keep_their_connections(void)
{
    CHECK(connections_of_a_hub(0) <= CLIENTS);
}

static void fewer_can_be_kept(void)
{
    /* calls that never overlap need no more: on a busy machine that happens */
    bool seen = false;
    for (int i = 0; !seen && i < 5; i++)
        seen = connections_of_a_hub(1) > CLIENTS;
    CHECK(seen);
}

static void *call_often(void *engine)
{
    for (int i = 0; i < CALLS; i++)
        if (!pull(ask(engine)))
            break;
    return NULL;
}

/* Each thread has its own streams, which share an engine. */
static void clients_in_threads_keep_their_connections(void)
{
    struct server *server = begin();
    pthread_t threads[CLIENTS];
    if (!server)
        return;
    allm_engine *e = play_engine_at(server_port(server));
    for (int i = 0; i < CLIENTS; i++)
        CHECK(!pthread_create(&threads[i], NULL, call_often, e));
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    CHECK(server_look(server).connections <= CLIENTS);
    CHECK_INT(server_look(server).requests, CLIENTS * CALLS);
    allm_engine_free(e);
    server_free(server);
}

TESTS = {
    TEST_ONCE(clients_of_a_hub_keep_their_connections),
    TEST_ONCE(fewer_can_be_kept),
    TEST_ONCE(clients_in_threads_keep_their_connections),
    TESTS_END,
};
