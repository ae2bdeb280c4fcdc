/*
 * bench_tools.c - the cost of running the tools of a turn
 *
 *   1  three tools that return at once, in the thread that pulls events
 *   2  the same in worker threads
 */
#include "allm.h"

#include "measure.h"

#include <stdio.h>

enum { CALLS = 3, TURNS = 2000, RUNS = 7 };

static void answer(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)ud;
    allm_tool_ok(run, args);
}

static allm_tool *make_tool(uint32_t flags)
{
    return allm_tool_new(ALLM(tool, .name = "echo", .description = "Echoes.",
                              .schema_text = "{\"type\":\"object\"}",
                              .call = answer, .flags = flags));
}

static size_t turn(const allm_engine *e, const allm_tool *tool,
                   const allm_tool_call *const *calls)
{
    size_t events = 0;
    const allm_event *event;
    allm_stream *s =
        allm_tool_calls(e, CALLS, calls,
                        ALLM(tool_calls_opts, .tool_count = 1, .tools = &tool));
    while (allm_stream_next(s, &event) == ALLM_EVENT)
        events++;
    allm_stream_free(s);
    return events;
}

static void measure(const char *what, const allm_engine *e, uint32_t flags,
                    const allm_tool_call *const *calls)
{
    allm_tool *tool = make_tool(flags);
    double best = 1e9;
    size_t events = 0;
    for (int run = 0; run < RUNS; run++) {
        int64_t begin = measure_process();
        for (int i = 0; i < TURNS; i++)
            events += turn(e, tool, calls);
        double us = (double)(measure_process() - begin) / TURNS / 1000;
        best = us < best ? us : best;
    }
    printf("%d %s tools: %.1f us of CPU a turn (%zu events)\n", CALLS, what,
           best, events / RUNS / TURNS);
    allm_tool_free(tool);
}

int main(void)
{
    static const char *const ids[CALLS] = { "c0", "c1", "c2" };
    allm_engine *e = allm_engine_new(ALLM(engine_opts, .model = "fake:m"));
    allm_json *args = allm_json_parse("{\"city\":\"Ulm\",\"days\":3}",
                                      ALLM_NUL_ENDED, NULL);
    allm_tool_call *calls[CALLS];
    for (int i = 0; i < CALLS; i++)
        calls[i] = allm_tool_call_new(
            ALLM(tool_call, .id = ids[i], .name = "echo", .arguments = args));
    measure("inline", e, ALLM_TOOL_INLINE,
            (const allm_tool_call *const *)calls);
    measure("worker", e, 0, (const allm_tool_call *const *)calls);
    for (int i = 0; i < CALLS; i++)
        allm_tool_call_free(calls[i]);
    allm_json_free(args);
    allm_engine_free(e);
    return 0;
}
