/*
 * test_hub_poll.c - a hub in the caller's event loop, with poll()
 *
 * The loop watches the hub and a pipe of the caller.  Delays are of one to
 * three milliseconds on the real clock; a wake-up that got lost shows as a
 * poll() that lasts PATIENCE.
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { PATIENCE = 20000 };      /* ms; only a broken test waits so long */
enum { MANY = 30 };

struct turns {
    allm_hub *hub;
    int in, out;                /* the caller's pipe */
    bool watches_time;          /* asks allm_hub_timeout(), too */
    bool stuck;                 /* a wake-up got lost */
    size_t turns, bytes, events, ended, late;
    void (*on_byte)(struct turns *l);
    allm_engine *engine;
    allm_stream *streams[MANY];
    size_t count;
};

/* ------------------------------------------------------------- the loop --- */

static bool begin(struct turns *l, const char *entries)
{
    static char opts[8192];
    int ends[2];
    size_t at = (size_t)snprintf(opts, sizeof opts, "{'scripts': [");
    for (int i = 0; i < MANY; i++)
        at += (size_t)snprintf(opts + at, sizeof opts - at, "%s%s",
                               i ? "," : "", entries);
    snprintf(opts + at, sizeof opts - at, "]}");
    if (!CHECK(pipe(ends) == 0))
        return false;
    l->in = ends[0];
    l->out = ends[1];
    l->engine = play_engine(opts, NULL);
    l->hub = allm_hub_new(NULL);
    return true;
}

static void end(struct turns *l)
{
    for (size_t i = 0; i < l->count; i++)
        allm_stream_free(l->streams[i]);
    allm_hub_free(l->hub);
    allm_engine_free(l->engine);
    close(l->in);
    close(l->out);
}

static void add(struct turns *l, const allm_call_opts *opts)
{
    allm_stream *s = play_call_with(l->engine, opts);
    l->streams[l->count++] = s;
    CHECK_INT(allm_hub_add(l->hub, s, NULL), ALLM_OK);
}

static void tell(struct turns *l)
{
    CHECK_ALWAYS(write(l->out, "x", 1) == 1);
}

static void drain(struct turns *l)
{
    allm_stream *s;
    while ((s = allm_hub_wait(l->hub, 0, NULL))) {
        allm_status status;
        while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
            l->events++;
        if (status == ALLM_AGAIN)
            continue;
        const allm_error *error = allm_stream_error(s);
        l->late += error && !strcmp(error->reason, "timeout");
        l->ended++;
        tell(l);
    }
}

static void turn(struct turns *l)
{
    char byte;
    struct pollfd fds[2] = { { .fd = allm_hub_fd(l->hub), .events = POLLIN },
                             { .fd = l->in, .events = POLLIN } };
    int ms = l->watches_time ? allm_hub_timeout(l->hub) : -1;
    bool patient = ms < 0 || ms > PATIENCE;
    int n = poll(fds, 2, patient ? PATIENCE : ms);
    l->stuck = n < 0 || (n == 0 && patient);
    l->turns++;
    if (fds[1].revents && read(l->in, &byte, 1) == 1) {
        l->bytes++;
        if (l->on_byte)
            l->on_byte(l);
    }
    if (fds[0].revents || l->watches_time)
        drain(l);
}

/* Until `count` streams have ended and the pipe was read as often. */
static void run(struct turns *l, size_t count)
{
    while (check_whole() && !l->stuck && (l->ended < count || l->bytes < count))
        turn(l);
    CHECK(!l->stuck);
    CHECK_INT(l->ended, count);
}

/* With the time, and by the descriptor alone. */
static void in_both_ways(void (*test)(struct turns *))
{
    for (int i = 0; i < 2; i++) {
        struct turns l = { .watches_time = i == 0 };
        check_row(i == 0 ? "descriptor and time" : "the descriptor alone");
        test(&l);
    }
}

/* ----------------------------------------------------------- many, slow --- */

static void play_many(struct turns *l)
{
    if (!begin(l, "[['text','a'],['delay',1],['text','b'],['delay',3],"
                  "['text','c'],['delay',2]]"))
        return;
    for (int i = 0; i < MANY; i++)
        add(l, NULL);
    run(l, MANY);
    CHECK_INT(l->events, MANY * 6);
    CHECK_INT(allm_hub_count(l->hub), 0);
    CHECK(l->turns < MANY * 20);        /* it slept in between */
    end(l);
}

static void many_streams_run_beside_a_pipe(void)
{
    in_both_ways(play_many);
}

/* A set of descriptors that holds the hub's, which is one itself. */
static void a_hub_stands_in_an_epoll(void)
{
    struct turns l = { .hub = NULL };
    struct epoll_event event = { .events = EPOLLIN };
    if (!begin(&l, "[['text','a'],['delay',1],['text','b']]"))
        return;
    int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(set, EPOLL_CTL_ADD, allm_hub_fd(l.hub), &event);
    for (int i = 0; i < 5; i++)
        add(&l, NULL);
    while (check_whole() && l.ended < 5 &&
           CHECK(epoll_wait(set, &event, 1, PATIENCE) == 1))
        drain(&l);
    CHECK_INT(epoll_wait(set, &event, 1, 0), 0);
    close(set);
    end(&l);
}

/* ------------------------------------------------------------ deadlines --- */

static void play_late(struct turns *l)
{
    const allm_call_opts *patience[] = {
        ALLM(call_opts, .first_ms = 2),
        ALLM(call_opts, .silence_ms = 2),
        ALLM(call_opts, .total_ms = 3),
    };
    if (!begin(l, "[['text','a'],['delay',60000],['text','b']]"))
        return;
    for (int i = 0; i < 3; i++)
        add(l, patience[i]);
    run(l, 2);                  /* the first has its first content in time */
    CHECK_INT(l->late, 2);
    CHECK_INT(allm_hub_count(l->hub), 1);
    end(l);
}

static void deadlines_end_streams_that_are_silent(void)
{
    in_both_ways(play_late);
}

static void play_never_begun(struct turns *l)
{
    if (!begin(l, "[['delay',60000]]"))
        return;
    for (int i = 0; i < 5; i++)
        add(l, ALLM(call_opts, .first_ms = 1));
    run(l, 5);
    CHECK_INT(l->late, 5);
    end(l);
}

static void deadlines_end_streams_that_never_begin(void)
{
    in_both_ways(play_never_begun);
}

/* --------------------------------------------------------------- adding --- */

/* Outside of allm_hub_wait(), while the hub is at rest. */
static void add_another(struct turns *l)
{
    if (l->count < MANY)
        add(l, NULL);
}

static void play_chain(struct turns *l)
{
    if (!begin(l, "[['text','a'],['delay',1]]"))
        return;
    l->on_byte = add_another;
    tell(l);
    tell(l);
    run(l, MANY);
    end(l);
}

static void streams_come_while_the_loop_runs(void)
{
    in_both_ways(play_chain);
}

/* A new stream is seen although the hub sleeps for a minute. */
static void a_sleeping_hub_shows_a_new_stream(void)
{
    struct turns l = { .hub = NULL };
    if (!begin(&l, "[['delay',60000]]"))
        return;
    struct pollfd fd = { .fd = allm_hub_fd(l.hub), .events = POLLIN };
    for (int i = 0; i < 3; i++) {
        add(&l, NULL);
        CHECK_INT(poll(&fd, 1, 0), 1);
        CHECK_INT(allm_hub_timeout(l.hub), 0);
        drain(&l);
        CHECK_INT(poll(&fd, 1, 0), 0);
    }
    end(&l);
}

/* -------------------------------------------------------- one that goes --- */

/* Freeing a stream may read data of others; they must be returned. */
static void a_ring_is_shown_when_another_stream_goes(void)
{
    struct turns l = { .hub = NULL };
    if (!begin(&l, "[['delay',60000]]"))
        return;
    struct pollfd fd = { .fd = allm_hub_fd(l.hub), .events = POLLIN };
    for (int i = 0; i < 3; i++)
        add(&l, NULL);
    drain(&l);
    CHECK_INT(poll(&fd, 1, 0), 0);
    allm_stream_cancel(l.streams[0]);
    allm_stream_free(l.streams[1]);
    l.streams[1] = NULL;
    CHECK_INT(poll(&fd, 1, 0), 1);
    CHECK_INT(allm_hub_timeout(l.hub), 0);
    drain(&l);
    CHECK_INT(l.ended, 1);
    CHECK_INT(poll(&fd, 1, 0), 0);
    end(&l);
}

/* ----------------------------------------------------------- cancelling --- */

static void *cancel_all(void *loop)
{
    struct turns *l = loop;
    for (int i = 0; i < MANY; i++)
        allm_stream_cancel(l->streams[i]);
    return NULL;
}

static void play_cancel(struct turns *l)
{
    pthread_t thread;
    if (!begin(l, "[['text','a'],['delay',60000]]"))
        return;
    for (int i = 0; i < MANY; i++)
        add(l, NULL);
    drain(l);                   /* all are at rest */
    if (CHECK(pthread_create(&thread, NULL, cancel_all, l) == 0)) {
        run(l, MANY);
        pthread_join(thread, NULL);
    }
    CHECK_INT(allm_fake_released(l->engine), MANY);
    end(l);
}

static void cancels_of_another_thread_wake_the_loop(void)
{
    for (int i = 0; i < 20; i++)
        in_both_ways(play_cancel);
}

/* One byte at a time: cancel streams depending on those that ended. */
static void *cancel_by_the_byte(void *loop)
{
    struct turns *l = loop;
    char byte;
    for (int i = 0; i < MANY; i++) {
        allm_stream_cancel(l->streams[i]);
        if (read(l->in, &byte, 1) != 1)
            break;
    }
    return NULL;
}

static void each_cancel_is_a_wake_up(void)
{
    struct turns l = { .hub = NULL };
    pthread_t thread;
    if (!begin(&l, "[['delay',60000]]"))
        return;
    struct pollfd fd = { .fd = allm_hub_fd(l.hub), .events = POLLIN };
    for (int i = 0; i < MANY; i++)
        add(&l, NULL);
    drain(&l);
    if (CHECK(pthread_create(&thread, NULL, cancel_by_the_byte, &l) == 0)) {
        while (l.ended < MANY && CHECK(poll(&fd, 1, PATIENCE) == 1))
            drain(&l);
        close(l.out);           /* a thread that still reads ends */
        l.out = -1;
        pthread_join(thread, NULL);
    }
    CHECK_INT(l.ended, MANY);
    end(&l);
}

TESTS = {
    TEST(many_streams_run_beside_a_pipe),
    TEST(a_hub_stands_in_an_epoll),
    TEST(deadlines_end_streams_that_are_silent),
    TEST(deadlines_end_streams_that_never_begin),
    TEST_ONCE(streams_come_while_the_loop_runs),
    TEST(a_sleeping_hub_shows_a_new_stream),
    TEST(a_ring_is_shown_when_another_stream_goes),
    TEST_ONCE(cancels_of_another_thread_wake_the_loop),
    TEST_ONCE(each_cancel_is_a_wake_up),
    TESTS_END,
};
