/*
 * test_stream_threads.c - cancel and wake-ups from other threads
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { STREAMS = 64 };

static void *cancel_one(void *stream)
{
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    allm_stream_cancel(stream);
    return NULL;
}

/* A stream that waits for a minute is woken at once. */
static void a_waiting_stream_is_woken_by_cancel(void)
{
    pthread_t thread;
    struct clock real = clock_real();
    allm_engine *e = play_engine("{'script': [['delay', 60000]]}", NULL);
    allm_stream *s = play_call(e);
    int64_t began = clock_now_ns(real);
    if (!CHECK(pthread_create(&thread, NULL, cancel_one, s) == 0))
        return;
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    pthread_join(thread, NULL);
    CHECK(clock_now_ns(real) - began < INT64_C(30000000000));
    CHECK_INT(allm_fake_released(e), 1);
    allm_stream_free(s);
    allm_engine_free(e);
}

static void *cancel_all(void *streams)
{
    for (int i = 0; i < STREAMS; i++)
        allm_stream_cancel(((allm_stream **)streams)[i]);
    return NULL;
}

static allm_engine *sleepers(void)
{
    char opts[STREAMS * 32] = "{'scripts': [";
    for (int i = 0; i < STREAMS; i++)
        strncat(opts, i ? ",[['delay',60000]]" : "[['delay',60000]]",
                sizeof opts - strlen(opts) - 1);
    strncat(opts, "]}", sizeof opts - strlen(opts) - 1);
    return play_engine(opts, NULL);
}

static void a_hub_is_woken_for_each_of_its_streams(void)
{
    allm_stream *streams[STREAMS], *s;
    pthread_t threads[2];
    allm_engine *e = sleepers();
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = play_call(e);
        CHECK_INT(allm_hub_add(hub, streams[i], NULL), ALLM_OK);
    }
    while ((s = allm_hub_wait(hub, 0, NULL)))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, cancel_all, streams) == 0);
    int ended = 0;
    while ((s = allm_hub_wait(hub, -1, NULL)))
        ended += allm_stream_next(s, NULL) == ALLM_OK;
    CHECK_INT(ended, STREAMS);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < STREAMS; i++)
        allm_stream_free(streams[i]);
    CHECK_INT(allm_fake_released(e), STREAMS);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* A hub that goes while others cancel its streams. */
static void a_hub_may_go_while_others_ring(void)
{
    allm_stream *streams[STREAMS];
    pthread_t thread;
    allm_engine *e = sleepers();
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = play_call(e);
        allm_hub_add(hub, streams[i], NULL);
    }
    CHECK(pthread_create(&thread, NULL, cancel_all, streams) == 0);
    allm_hub_free(hub);
    pthread_join(thread, NULL);
    for (int i = 0; i < STREAMS; i++) {
        CHECK_INT(allm_stream_wait(streams[i]), ALLM_ERR_MISUSE);
        allm_stream_free(streams[i]);
    }
    CHECK_INT(allm_fake_released(e), STREAMS);
    allm_engine_free(e);
}

struct caller {
    allm_engine *engine;
    int answered;
};

static void *call_some(void *arg)
{
    struct caller *c = arg;
    for (int i = 0; i < 16; i++) {
        allm_stream *s = play_call(c->engine);
        c->answered += allm_stream_wait(s) == ALLM_OK;
        allm_stream_free(s);
    }
    return NULL;
}

/* Several threads, one engine: each call of the script is played once. */
static void an_engine_serves_many_threads(void)
{
    char opts[4096] = "{'record': true, 'scripts': [";
    pthread_t threads[4];
    struct caller callers[4];
    for (int i = 0; i < 50; i++)
        strncat(opts, i ? ",[['text','a']]" : "[['text','a']]",
                sizeof opts - strlen(opts) - 1);
    strncat(opts, "]}", sizeof opts - strlen(opts) - 1);
    allm_engine *e = play_engine(opts, NULL);
    for (int i = 0; i < 4; i++) {
        callers[i] = (struct caller){ e, 0 };
        CHECK(pthread_create(&threads[i], NULL, call_some, &callers[i]) == 0);
    }
    int answered = 0;
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        answered += callers[i].answered;
    }
    CHECK_INT(answered, 50);
    CHECK_INT(allm_fake_calls(e), 64);
    allm_json *seen = allm_fake_requests(e);
    CHECK_INT(allm_json_count(seen), 64);
    allm_json_free(seen);
    allm_engine_free(e);
}

TESTS = {
    TEST_ONCE(a_waiting_stream_is_woken_by_cancel),
    TEST_ONCE(a_hub_is_woken_for_each_of_its_streams),
    TEST_ONCE(a_hub_may_go_while_others_ring),
    TEST_ONCE(an_engine_serves_many_threads),
    TESTS_END,
};
