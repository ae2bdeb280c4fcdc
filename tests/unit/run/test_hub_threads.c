/*
 * test_hub_threads.c - wake-ups and cancels from other threads
 *
 * The streams run a machine of this file: it has one event for each piece of
 * news that other threads brought, so that a ring that got lost shows as a hub
 * that waits in vain.
 *
 * tag: thread
 */
#include "run/hub.h"

#include "base/status.h"
#include "harness/check.h"
#include "harness/play.h"
#include "run/stream.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { PATIENCE = 20000 };      /* ms; only a broken test waits so long */
enum { BELLS = 16, RINGERS = 4, NEWS = 200 };

/* ---------------------------------------------------------- the machine --- */

struct bell {
    struct machine machine;
    allm_waker *waker;
    atomic_int news;
    int told, last;             /* ends after the last piece of news */
    bool stopped;
    pthread_t ringer;           /* rings until the machine goes */
    bool has_ringer;
    atomic_bool quiet;
    allm_event event;
};

static struct bell *bell_of(struct machine *m)
{
    return (struct bell *)(void *)m;
}

static allm_status bell_next(struct machine *m, allm_event **event,
                             int64_t *again_ns)
{
    struct bell *b = bell_of(m);
    *again_ns = INT64_MAX;
    if (b->told == b->last)
        return ALLM_OK;
    if (b->told == atomic_load(&b->news))
        return ALLM_AGAIN;
    b->told++;
    b->event = (allm_event){ .size = sizeof b->event,
                             .type = ALLM_EV_TEXT_DELTA };
    *event = &b->event;
    return ALLM_EVENT;
}

static void bell_stop(struct machine *m, bool cancelled)
{
    (void)cancelled;
    bell_of(m)->stopped = true;
}

/* Until now it may ring, and one that ends rings a last time. */
static void bell_free(struct machine *m)
{
    struct bell *b = bell_of(m);
    atomic_store(&b->quiet, true);
    if (b->has_ringer)
        pthread_join(b->ringer, NULL);
    allm_waker_ring(b->waker);
    b->stopped = true;
}

static const allm_error *bell_error(const struct machine *m)
{
    (void)m;
    return status_nomem();
}

static const allm_response *bell_response(const struct machine *m)
{
    (void)m;
    return NULL;
}

static const char *bell_id(const struct machine *m)
{
    (void)m;
    return "bell";
}

static const struct machine_ops bell_ops = {
    .next = bell_next,         .stop = bell_stop,
    .free = bell_free,         .error = bell_error,
    .response = bell_response, .request_id = bell_id,
};

static allm_stream *bell_stream(struct bell *b, struct mem mem, int last)
{
    *b = (struct bell){ .machine = { &bell_ops }, .last = last };
    atomic_init(&b->news, 0);
    atomic_init(&b->quiet, false);
    allm_stream *s = stream_new(mem, clock_real(), NULL);
    if (!s)
        return NULL;
    b->waker = stream_waker(s);
    return stream_begin(s, &b->machine);
}

static void *ring_until_quiet(void *bell)
{
    struct bell *b = bell;
    while (!atomic_load(&b->quiet)) {
        atomic_fetch_add(&b->news, 1);
        allm_waker_ring(b->waker);
        sched_yield();
    }
    return NULL;
}

static void start_ringing(struct bell *b)
{
    b->has_ringer = pthread_create(&b->ringer, NULL, ring_until_quiet, b) == 0;
    CHECK(b->has_ringer);
}

/* --------------------------------------------------- freed and not read --- */

/* Memory that is marked when it is given back, and kept until the end. */
enum { GRAVES = 8, MARK = 0xEE };

struct graves {
    struct {
        unsigned char *bytes;
        size_t size;
    } grave[GRAVES];
    size_t count;
};

static void *bury(void *ud, void *p, size_t old, size_t size)
{
    struct graves *g = ud;
    if (size)
        return mem_resize(mem_default(), p, old, size);
    if (!p || g->count == GRAVES)
        return NULL;
    memset(p, MARK, old);
    g->grave[g->count].bytes = p;
    g->grave[g->count++].size = old;
    return NULL;
}

/* Did no thread write there any more? */
static bool dig_up(struct graves *g)
{
    bool untouched = true;
    for (size_t i = 0; i < g->count; i++) {
        for (size_t k = 0; k < g->grave[i].size; k++)
            untouched = untouched && g->grave[i].bytes[k] == MARK;
        mem_free(mem_default(), g->grave[i].bytes, g->grave[i].size);
    }
    return untouched;
}

/* What rings while a stream is being freed leaves nothing in the hub. */
static void a_ring_during_free_leaves_nothing_behind(void)
{
    struct graves graves = { .count = 0 };
    struct mem mem = { bury, &graves };
    struct bell going, staying;
    allm_stream *s;
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *a = bell_stream(&going, mem, 1);
    allm_stream *b = bell_stream(&staying, mem_default(), 1);
    allm_hub_add(hub, a, NULL);
    allm_hub_add(hub, b, NULL);
    while ((s = allm_hub_wait(hub, 0, NULL)))
        allm_stream_next(s, NULL);
    allm_stream_free(a);
    CHECK(!allm_hub_wait(hub, 0, NULL));
    CHECK_INT(allm_hub_count(hub), 1);
    allm_stream_free(b);
    allm_hub_free(hub);
    CHECK_ALWAYS(dig_up(&graves));
}

static void streams_may_go_while_their_source_rings(void)
{
    struct bell bells[BELLS];
    allm_stream *streams[BELLS], *s;
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < BELLS; i++) {
        streams[i] = bell_stream(&bells[i], mem_default(), NEWS * 1000);
        allm_hub_add(hub, streams[i], NULL);
        start_ringing(&bells[i]);
    }
    for (int i = 0; i < BELLS; i++) {
        for (int k = 0; k < 20 && (s = allm_hub_wait(hub, 0, NULL)); k++)
            while (allm_stream_next(s, NULL) == ALLM_EVENT)
                ;
        allm_stream_free(streams[i]);
    }
    CHECK_INT(allm_hub_count(hub), 0);
    CHECK(!allm_hub_wait(hub, 0, NULL));
    allm_hub_free(hub);
}

/* ---------------------------------------------------------------- rings --- */

static void *bring_news(void *bells)
{
    struct bell *b = bells;
    for (int i = 0; i < NEWS; i++)
        for (int k = 0; k < BELLS; k++) {
            atomic_fetch_add(&b[k].news, 1);
            allm_waker_ring(b[k].waker);
        }
    return NULL;
}

/* Pull until all have ended; false: the hub waited in vain. */
static bool run_dry(allm_hub *hub)
{
    while (allm_hub_count(hub)) {
        allm_stream *s = allm_hub_wait(hub, PATIENCE, NULL);
        if (!s)
            return false;
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    }
    return true;
}

static void no_ring_of_many_threads_is_lost(void)
{
    static struct bell bells[BELLS];
    allm_stream *streams[BELLS];
    pthread_t threads[RINGERS];
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < BELLS; i++) {
        streams[i] = bell_stream(&bells[i], mem_default(), RINGERS * NEWS);
        allm_hub_add(hub, streams[i], NULL);
    }
    for (int i = 0; i < RINGERS; i++)
        CHECK(pthread_create(&threads[i], NULL, bring_news, bells) == 0);
    CHECK(run_dry(hub));
    for (int i = 0; i < RINGERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BELLS; i++) {
        CHECK_INT(bells[i].told, RINGERS * NEWS);
        allm_stream_free(streams[i]);
    }
    allm_hub_free(hub);
}

/* The same for a stream that waits alone: its hub is made under the rings. */
static void a_lone_stream_loses_no_ring(void)
{
    for (int round = 0; round < 50; round++) {
        struct bell b;
        allm_stream *s = bell_stream(&b, mem_default(), 20);
        start_ringing(&b);
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        CHECK_INT(b.told, 20);
        allm_stream_free(s);
    }
}

static void streams_may_come_while_others_ring(void)
{
    static struct bell bells[BELLS];
    allm_stream *streams[BELLS], *s;
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < BELLS; i++) {
        streams[i] = bell_stream(&bells[i], mem_default(), 50);
        start_ringing(&bells[i]);       /* before it has a hub */
        CHECK_INT(allm_hub_add(hub, streams[i], NULL), ALLM_OK);
        s = allm_hub_wait(hub, PATIENCE, NULL);
        while (s && allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    }
    CHECK(run_dry(hub));
    for (int i = 0; i < BELLS; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
}

/* -------------------------------------------------------------- cancels --- */

static void *cancel_all(void *streams)
{
    for (int i = 0; i < BELLS; i++)
        allm_stream_cancel(((allm_stream **)streams)[i]);
    return NULL;
}

/* Before they wait, while they wait, and when they have ended. */
static void cancels_meet_waits_in_every_state(void)
{
    for (int round = 0; round < 100; round++) {
        struct bell bells[BELLS];
        allm_stream *streams[BELLS];
        pthread_t threads[2];
        allm_hub *hub = allm_hub_new(NULL);
        for (int i = 0; i < BELLS; i++)
            streams[i] = bell_stream(&bells[i], mem_default(), 1);
        for (int i = 0; i < 2; i++)
            CHECK(pthread_create(&threads[i], NULL, cancel_all, streams) == 0);
        for (int i = 0; i < BELLS; i++)
            allm_hub_add(hub, streams[i], NULL);
        CHECK(run_dry(hub));
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < BELLS; i++) {
            CHECK(bells[i].stopped);
            allm_stream_free(streams[i]);
        }
        allm_hub_free(hub);
    }
}

static void a_hub_may_go_under_rings_and_cancels(void)
{
    for (int round = 0; round < 30; round++) {
        struct bell bells[BELLS];
        allm_stream *streams[BELLS], *s;
        pthread_t thread;
        allm_hub *hub = allm_hub_new(NULL);
        for (int i = 0; i < BELLS; i++) {
            streams[i] = bell_stream(&bells[i], mem_default(), INT32_MAX);
            allm_hub_add(hub, streams[i], NULL);
            if (i % 4 == 0)
                start_ringing(&bells[i]);
        }
        CHECK(pthread_create(&thread, NULL, cancel_all, streams) == 0);
        for (int i = 0; i < round && (s = allm_hub_wait(hub, 0, NULL)); i++)
            allm_stream_next(s, NULL);
        allm_hub_free(hub);
        for (int i = 0; i < BELLS; i++)
            CHECK(allm_stream_next(streams[i], NULL) < 0);
        pthread_join(thread, NULL);
        for (int i = 0; i < BELLS; i++)
            allm_stream_free(streams[i]);
    }
}

/* --------------------------------------------------------- handing over --- */

static void *run_hub(void *hub)
{
    return run_dry(hub) ? hub : NULL;
}

/* One thread at a time is not always the same thread. */
static void a_hub_may_be_handed_to_another_thread(void)
{
    struct bell bells[BELLS];
    allm_stream *streams[BELLS];
    pthread_t loop, news[RINGERS];
    void *finished = NULL;
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < BELLS; i++) {
        streams[i] = bell_stream(&bells[i], mem_default(), RINGERS * NEWS);
        allm_hub_add(hub, streams[i], NULL);
    }
    for (int i = 0; i < RINGERS; i++)
        CHECK(pthread_create(&news[i], NULL, bring_news, bells) == 0);
    allm_hub_wait(hub, 0, NULL);        /* here, and from now on there */
    CHECK(pthread_create(&loop, NULL, run_hub, hub) == 0);
    pthread_join(loop, &finished);
    CHECK(finished == hub);
    for (int i = 0; i < RINGERS; i++)
        pthread_join(news[i], NULL);
    for (int i = 0; i < BELLS; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
}

TESTS = {
    TEST(a_ring_during_free_leaves_nothing_behind),
    TEST_ONCE(streams_may_go_while_their_source_rings),
    TEST_ONCE(no_ring_of_many_threads_is_lost),
    TEST_ONCE(a_lone_stream_loses_no_ring),
    TEST_ONCE(streams_may_come_while_others_ring),
    TEST_ONCE(cancels_meet_waits_in_every_state),
    TEST_ONCE(a_hub_may_go_under_rings_and_cancels),
    TEST_ONCE(a_hub_may_be_handed_to_another_thread),
    TESTS_END,
};
