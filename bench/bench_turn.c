/*
 * bench_turn.c - the cost of a turn
 *
 *   1  a turn with three tools that return at once: in the pulling thread, and
 *      in worker threads
 *   2  a chat of 1,000 turns: the last turns, compared with the first ones
 *      (with an adapter of this file, since the Fake searches its script)
 *   3  the memory that such a chat needs for each turn
 *   4  64 parallel tools of 50 ms
 */
#include "allm.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 1000, RUNS = 5, PARALLEL = 64 };

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

static void at_once(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    allm_tool_text(run, "fine", 4);
}

static void sleeps(allm_tool_run *run, const allm_json *args, void *ud)
{
    struct timespec t = { 0, 50 * 1000000 };
    (void)args;
    (void)ud;
    nanosleep(&t, NULL);
    allm_tool_text(run, "late", 4);
}

/* A model that always calls the tool t three times. */
static allm_status calls_put(allm_sink *sink, const char *id)
{
    return allm_sink_put(
        sink, ALLM(event, .type = ALLM_EV_TOOL_CALL_COMPLETED, .id = id,
                   .name = "t", .raw_arguments = "{}", .raw_len = 2,
                   .arguments = allm_sink_parse(sink, "{}", 2)));
}

static allm_status model_next(void *state, const allm_call *call,
                              allm_sink *sink, int64_t *again_ns)
{
    bool *done = state;
    (void)call;
    (void)again_ns;
    if (*done)
        return ALLM_OK;
    *done = true;
    calls_put(sink, "c0");
    calls_put(sink, "c1");
    calls_put(sink, "c2");
    const allm_message *m = ALLM(message, .role = ALLM_ROLE_ASSISTANT,
                                 .text = "");
    allm_message *mine = allm_sink_alloc(sink, sizeof *mine);
    *mine = *m;
    allm_sink_put(sink, ALLM(event, .type = ALLM_EV_MESSAGE_COMPLETED,
                             .message = mine,
                             .finish_reason = ALLM_FINISH_TOOL_CALLS));
    return ALLM_EVENT;
}

static allm_status model_open(void *state, const allm_call *call,
                              allm_sink *sink)
{
    (void)state;
    (void)call;
    (void)sink;
    return ALLM_OK;
}

static void model_close(void *state, const allm_call *call)
{
    (void)state;
    (void)call;
}

static const allm_adapter model = {
    .size = sizeof model, .name = "bench", .state_size = sizeof(bool),
    .open = model_open, .next = model_next, .close = model_close,
};

/* A turn that calls the tool t `calls` times. */
static void write_turn(allm_json_build *b, int calls)
{
    allm_json_build_array(b);
    for (int i = 0; i < calls; i++) {
        char id[16];
        snprintf(id, sizeof id, "c%d", i);
        allm_json_build_array(b);
        allm_json_build_text(b, "tool_call", 9);
        allm_json_build_object(b);
        allm_json_build_key(b, "id");
        allm_json_build_text(b, id, strlen(id));
        allm_json_build_key(b, "name");
        allm_json_build_text(b, "t", 1);
        allm_json_build_key(b, "arguments");
        allm_json_build_object(b);
        allm_json_build_end(b);
        allm_json_build_end(b);
        allm_json_build_end(b);
    }
    allm_json_build_array(b);
    allm_json_build_text(b, "finish", 6);
    allm_json_build_text(b, "tool_calls", 10);
    allm_json_build_end(b);
    allm_json_build_end(b);
}

/* If turns is 0, the engine uses the adapter of this file. */
static allm_engine *engine_of(int turns, int calls, allm_tool_fn fn,
                              uint32_t flags)
{
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_object(b);
    allm_json_build_key(b, "scripts");
    allm_json_build_array(b);
    for (int i = 0; i < turns; i++)
        write_turn(b, calls);
    allm_json_build_end(b);
    allm_json_build_end(b);
    allm_json *opts = allm_json_build_done(b);
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = "t", .description = "a tool of the bench",
             .schema_text = "{\"type\": \"object\"}", .call = fn,
             .flags = flags));
    const allm_tool *tools = tool;
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = turns ? "fake:m" : "bench:m",
             .adapter_table = turns ? NULL : &model, .adapter_opts = opts,
             .tool_count = 1, .tools = &tools,
             .allocator = turns ? NULL : &counted));
    allm_tool_free(tool);
    allm_json_free(opts);
    return e;
}

static allm_thread *thread_of(void)
{
    allm_thread *t = allm_thread_new(NULL);
    allm_thread_add(t, ALLM_ROLE_USER, "hi");
    return t;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t middle(int64_t *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, by_size);
    return times[n / 2];
}

/* The time of each turn of a chat, in nanoseconds. */
static void time_turns(int64_t *times, int turns, uint32_t flags, bool cpu)
{
    allm_engine *e = engine_of(turns, 3, at_once, flags);
    allm_thread *t = thread_of();
    allm_stream *s = allm_chat(e, t, ALLM(call_opts, .max_turns = TURNS));
    const allm_event *event;
    int64_t began = cpu ? measure_thread() : measure_now();
    int turn = 0;
    while (allm_stream_next(s, &event) == ALLM_EVENT && turn < TURNS) {
        if (event->type != ALLM_EV_STEP_COMPLETED)
            continue;
        int64_t at = cpu ? measure_thread() : measure_now();
        times[turn++] = at - began;
        began = at;
    }
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

/* Twice as many turns must need twice the memory. */
static void bench_memory(void)
{
    allm_engine *e = engine_of(0, 3, at_once, ALLM_TOOL_INLINE);
    allm_thread *t = thread_of();
    allm_stream *s = allm_chat(e, t, ALLM(call_opts, .max_turns = TURNS));
    const allm_event *event;
    size_t bytes[2] = { 0, 0 }, began = live;
    int turn = 0;
    while (turn < TURNS - 1 && allm_stream_next(s, &event) == ALLM_EVENT)
        if (event->type == ALLM_EV_STEP_COMPLETED && ++turn == TURNS / 2)
            bytes[0] = live - began;
    bytes[1] = live - began;
    printf("memory of each turn            %8.0f bytes, then %.0f\n",
           (double)bytes[0] / (TURNS / 2),
           (double)(bytes[1] - bytes[0]) / (TURNS / 2 - 1));
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

static void bench_turns(void)
{
    static int64_t times[TURNS], early[RUNS * 50], late[RUNS * 50];
    time_turns(times, TURNS, ALLM_TOOL_INLINE, true);
    printf("turn with three inline tools   %8.1f us\n",
           (double)middle(times, TURNS) / 1000);
    time_turns(times, TURNS, 0, false);
    printf("turn with three tools, workers %8.1f us\n",
           (double)middle(times, TURNS) / 1000);
    for (int run = 0; run < RUNS; run++) {
        time_turns(times, 0, ALLM_TOOL_INLINE, true);
        memcpy(early + (size_t)run * 50, times + 10, 50 * sizeof *times);
        memcpy(late + (size_t)run * 50, times + TURNS - 51, 50 * sizeof *times);
    }
    int64_t first = middle(early, RUNS * 50), last = middle(late, RUNS * 50);
    printf("turn 1000 / turn 10            %8.2f times\n",
           (double)last / (double)first);
}

static void bench_parallel(void)
{
    allm_engine *e = engine_of(1, PARALLEL, sleeps, 0);
    allm_thread *t = thread_of();
    int64_t began = measure_now();
    allm_stream *s = allm_step(e, t,
                               ALLM(call_opts, .max_concurrency = PARALLEL));
    allm_stream_wait(s);
    printf("64 tools of 50 ms at once      %8.1f ms\n",
           (double)(measure_now() - began) / 1000000);
    allm_stream_free(s);
    allm_thread_free(t);
    allm_engine_free(e);
}

int main(void)
{
    bench_turns();
    bench_memory();
    bench_parallel();
    return 0;
}
