/*
 * test_stream_signal.c - allm_stream_cancel() in a signal handler
 *
 * A timer's signal interrupts the thread that pulls, wherever it is: in the
 * library, in libcurl or asleep.
 *
 * tag: clock
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/server.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

enum { PATIENCE = 20000 };      /* ms; only a broken test waits so long */
enum { CALLS = 300 };

static _Atomic(allm_stream *) running;
static atomic_int signals, spoiled;

static void on_alarm(int number)
{
    int before = errno;         /* a handler must leave it alone, too */
    allm_stream *s = atomic_load(&running);
    (void)number;
    errno = EDOM;
    allm_stream_cancel(s);
    atomic_fetch_add(&spoiled, errno != EDOM);
    atomic_fetch_add(&signals, s != NULL);
    errno = before;
}

/* So many microseconds from now, and again each time; 0: no more. */
static void set_alarm(int us)
{
    struct itimerval every = { { 0, us }, { 0, us } };
    setitimer(ITIMER_REAL, &every, NULL);
}

struct bench {
    struct server *server;
    allm_engine *engine;
    struct sigaction before;
};

/* The server's thread is not interrupted. */
static bool begin(struct bench *b, const struct server_step *steps)
{
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    b->server = server_new();
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    if (!b->server) {
        check_skip("there are no sockets here");
        return false;
    }
    server_play_always(b->server, steps);
    b->engine = play_engine_at(server_port(b->server));
    struct sigaction act = { .sa_handler = on_alarm };
    sigaction(SIGALRM, &act, &b->before);
    atomic_store(&signals, 0);
    return true;
}

static void end(struct bench *b)
{
    set_alarm(0);
    sigaction(SIGALRM, &b->before, NULL);
    allm_engine_free(b->engine);
    server_free(b->server);
}

static allm_stream *ask(struct bench *b)
{
    allm_stream *s = play_call_with(b->engine, ALLM(call_opts, .api_key = "k"));
    atomic_store(&running, s);
    return s;
}

static void finish(allm_stream *s)
{
    atomic_store(&running, NULL);
    allm_stream_free(s);
}

/* A server that never answers. */
static const struct server_step silence[] = { SERVER_PAUSE, SERVER_END };

static void a_signal_ends_a_wait(void)
{
    struct bench b;
    if (!begin(&b, silence))
        return;
    for (int i = 0; i < 10; i++) {
        allm_stream *s = ask(&b);
        set_alarm(20000);
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        set_alarm(0);
        CHECK_TEXT(allm_stream_error(s)->reason, "cancelled");
        finish(s);
    }
    CHECK_INT(atomic_load(&spoiled), 0);        /* errno is left alone */
    end(&b);
}

static void a_signal_wakes_a_hub(void)
{
    struct bench b;
    if (!begin(&b, silence))
        return;
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = ask(&b);
    allm_hub_add(hub, s, NULL);
    CHECK(allm_hub_wait(hub, PATIENCE, NULL) == s);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
    set_alarm(20000);
    CHECK(allm_hub_wait(hub, PATIENCE, NULL) == s);
    set_alarm(0);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_OK);
    finish(s);
    allm_hub_free(hub);
    end(&b);
}

/* Signals all the time: each call ends, whole or cancelled. */
static void a_signal_may_come_at_any_time(void)
{
    static const struct server_step good[] = {
        SERVER_SAY("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "Connection: close\r\n\r\n"
                   "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":"
                   "{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"
                   "data: [DONE]\n\n"),
        SERVER_CLOSE
    };
    struct bench b;
    int whole = 0, cancelled = 0;
    if (!begin(&b, good))
        return;
    for (int i = 0; i < CALLS; i++) {
        set_alarm(50 + i * 13 % 1500);
        allm_stream *s = ask(&b);
        CHECK(allm_stream_wait(s) >= 0 || allm_stream_error(s));
        const allm_error *error = allm_stream_error(s);
        whole += !error;
        cancelled += error != NULL;
        if (error && strcmp(error->reason, "cancelled") != 0)
            CHECK_TEXT(error->message, "cancelled");    /* shows the cause */
        finish(s);
    }
    set_alarm(0);
    CHECK_INT(whole + cancelled, CALLS);
    CHECK(atomic_load(&signals) > 0);
    CHECK_INT(atomic_load(&spoiled), 0);
    end(&b);
}

TESTS = {
    TEST_ONCE(a_signal_ends_a_wait),
    TEST_ONCE(a_signal_wakes_a_hub),
    TEST_ONCE(a_signal_may_come_at_any_time),
    TESTS_END,
};
