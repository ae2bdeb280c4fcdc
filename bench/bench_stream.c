/*
 * bench_stream.c - the cost of streams and hubs
 *
 *   1  allm_stream_next() for a script of 100,000 texts, compared with reading
 *      an array of prepared events
 *   2  10,000 idle streams in a hub: bytes for each
 *   3  fairness: how many events the slowest of many busy streams is behind the
 *      fastest
 *   4  how long it takes to wake the hub from another thread
 */
#include "allm.h"

#include "base/mem.h"
#include "measure.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXTS = 100000, IDLE = 10000, TALKERS = 100, RINGS = 200, RUNS = 7 };

/* Bytes in use, counted by our allocator. */
static size_t live;

static void *counting(void *ud, void *p, size_t old, size_t size)
{
    (void)ud;
    live += size - (p ? old : 0);
    if (size)
        return realloc(p, size);
    free(p);
    return NULL;
}

static const allm_allocator counted = { sizeof counted, counting, NULL };

static allm_engine *engine_of(allm_json *script, const char *key,
                              const allm_allocator *allocator)
{
    allm_json *none = allm_json_parse("{}", 2, NULL);
    allm_json *opts = allm_json_set(none, key, script);
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                          .adapter_opts = opts,
                                          .allocator = allocator));
    allm_json_free(opts);
    allm_json_free(none);
    allm_json_free(script);
    return e;
}

static allm_request *request;   /* all calls share it */

static allm_stream *call(const allm_engine *e)
{
    return allm_generate(e, request, NULL);
}

static void text_entries(allm_json_build *b, int n)
{
    allm_json_build_array(b);
    for (int i = 0; i < n; i++) {
        allm_json_build_array(b);
        allm_json_build_text(b, "text", 4);
        allm_json_build_text(b, "a few words ", 12);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
}

/* `calls` calls of n texts each. */
static allm_json *talk(int calls, int n)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    for (int i = 0; i < calls; i++)
        text_entries(b, n);
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

/* -------------------------------------------------------------- texts --- */

static int64_t walk_array(const allm_event *events, size_t *sum)
{
    int64_t began = measure_thread();
    for (size_t i = 0; i < TEXTS; i++)
        *sum += events[i].text_len + events[i].seq;
    return measure_thread() - began;
}

static int64_t walk_stream(const allm_engine *e, size_t *sum, int64_t *opening)
{
    const allm_event *event;
    int64_t began = measure_thread();
    allm_stream *s = call(e);
    int64_t opened = measure_thread();
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        *sum += event->text_len + event->seq;
    int64_t took = measure_thread() - opened;
    *opening = opened - began;
    allm_stream_free(s);
    return took;
}

static void bench_texts(void)
{
    int64_t array[RUNS], stream[RUNS], opening[RUNS];
    size_t sum = 0;
    allm_event *events = calloc(TEXTS, sizeof *events);
    for (size_t i = 0; i < TEXTS; i++)
        events[i] = (allm_event){ .text = "a few words ", .text_len = 12 };
    allm_engine *e = engine_of(talk(RUNS, TEXTS), "scripts", NULL);
    for (int i = 0; i < RUNS; i++) {
        array[i] = walk_array(events, &sum);
        stream[i] = walk_stream(e, &sum, &opening[i]);
    }
    qsort(array, RUNS, sizeof *array, measure_order);
    qsort(stream, RUNS, sizeof *stream, measure_order);
    qsort(opening, RUNS, sizeof *opening, measure_order);
    double a = (double)array[RUNS / 2] / TEXTS;
    double s = (double)stream[RUNS / 2] / TEXTS;
    printf("texts: %.1f ns an event, array %.1f ns, more: %.1f ns "
           "(at most 120); opening %.1f ns a text  [%zu]\n",
           s, a, s - a, (double)opening[RUNS / 2] / TEXTS, sum % 10);
    allm_engine_free(e);
    free(events);
}

/* --------------------------------------------------------------- idle --- */

/* Calls that wait for a day after their first event. */
static allm_json *sleepers(int n)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    for (int i = 0; i < n; i++) {
        allm_json_build_array(b);
        allm_json_build_array(b);
        allm_json_build_text(b, "delay", 5);
        allm_json_build_int(b, 60000);
        allm_json_build_end(b);
        allm_json_build_end(b);
    }
    allm_json_build_end(b);
    return allm_json_build_done(b);
}

static void settle(allm_hub *hub)
{
    const allm_event *event;
    allm_stream *s;
    while ((s = allm_hub_wait(hub, 0, NULL)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            ;
}

/* Each stream has a separate engine, which was used once before we count.  So
 * neither the script, which each call copies, nor the engine's caches count as
 * memory of the stream. */
static void bench_idle(void)
{
    static allm_engine *engines[IDLE];
    static allm_stream *streams[IDLE];
    for (int i = 0; i < IDLE; i++) {
        engines[i] = engine_of(sleepers(2), "scripts", &counted);
        allm_stream_free(call(engines[i]));
    }
    allm_hub *hub = allm_hub_new(ALLM(hub_opts, .allocator = &counted));
    size_t before = live;
    int64_t began = measure_thread();
    for (int i = 0; i < IDLE; i++) {
        streams[i] = call(engines[i]);
        allm_hub_add(hub, streams[i], NULL);
    }
    settle(hub);
    int64_t made = measure_thread();
    printf("idle: %zu bytes a stream (under 1536), made and seated in %.1f us "
           "each\n",
           (live - before) / IDLE, (double)(made - began) / IDLE / 1000);
    for (int i = 0; i < IDLE; i++) {
        allm_stream_free(streams[i]);
        allm_engine_free(engines[i]);
    }
    allm_hub_free(hub);
}

/* ----------------------------------------------------------- fairness --- */

static void bench_fairness(void)
{
    enum { EACH = 10000 };
    static allm_stream *streams[TALKERS];
    static size_t given[TALKERS];
    const allm_event *event;
    allm_stream *s;
    void *tag;
    size_t most_apart = 0, total = 0;
    allm_engine *e = engine_of(talk(TALKERS, EACH), "scripts", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < TALKERS; i++) {
        streams[i] = call(e);
        allm_hub_add(hub, streams[i], &given[i]);
    }
    int64_t began = measure_thread();
    while ((s = allm_hub_wait(hub, -1, &tag))) {
        size_t low = SIZE_MAX, high = 0;
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            ++*(size_t *)tag, total++;
        for (int i = 0; i < TALKERS; i++) {
            low = given[i] < low ? given[i] : low;
            high = given[i] > high ? given[i] : high;
        }
        if (high - low > most_apart)
            most_apart = high - low;
    }
    int64_t took = measure_thread() - began;
    printf("fairness: %d streams, at most %zu events apart; %.1f ns an event\n",
           TALKERS, most_apart, (double)took / (double)total);
    for (int i = 0; i < TALKERS; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* ------------------------------------------------------------ wake-up --- */

struct ringer {
    allm_stream **streams;
    int64_t rung[RINGS];
};

static void *ring(void *arg)
{
    struct ringer *r = arg;
    for (int i = 0; i < RINGS; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
        r->rung[i] = measure_now();
        allm_stream_cancel(r->streams[i]);
    }
    return NULL;
}

static void bench_wake(void)
{
    static allm_stream *streams[RINGS];
    static struct ringer r = { .streams = streams };
    static int numbers[RINGS];
    int64_t late[RINGS];
    allm_stream *s;
    void *tag;
    pthread_t thread;
    allm_engine *e = engine_of(sleepers(RINGS), "scripts", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < RINGS; i++) {
        numbers[i] = i;
        streams[i] = call(e);
        allm_hub_add(hub, streams[i], &numbers[i]);
    }
    settle(hub);
    if (pthread_create(&thread, NULL, ring, &r) != 0)
        return;
    while ((s = allm_hub_wait(hub, -1, &tag))) {
        int64_t woken = measure_now();
        late[*(int *)tag] = woken - r.rung[*(int *)tag];
        allm_stream_wait(s);
    }
    pthread_join(thread, NULL);
    qsort(late, RINGS, sizeof *late, measure_order);
    printf("wake-up: %.1f us in the middle, %.1f us at most\n",
           (double)late[RINGS / 2] / 1000, (double)late[RINGS - 1] / 1000);
    for (int i = 0; i < RINGS; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
    allm_engine_free(e);
}

int main(void)
{
    const allm_message *hi = ALLM(message, .role = ALLM_ROLE_USER,
                                  .text = "hi");
    request =
        allm_request_new(ALLM(request, .message_count = 1, .messages = &hi));
    bench_texts();
    bench_idle();
    bench_fairness();
    bench_wake();
    allm_request_free(request);
    return 0;
}
