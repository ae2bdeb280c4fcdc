/*
 * test_tool_calls.c - tool calls that run outside of a chat
 *
 * tag: thread
 */
#include "harness/check.h"
#include "harness/noun.h"
#include "harness/play.h"
#include "harness/tools.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static allm_tool *make_tool(const char *name, allm_tool_fn fn, void *ud,
                            uint32_t flags)
{
    return allm_tool_new(ALLM(tool, .name = name, .description = "",
                              .schema_text = "{}", .call = fn, .ud = ud,
                              .flags = flags));
}

static allm_tool_call *make_call(const char *id, const char *name)
{
    allm_json *args = noun_json("{}");
    allm_tool_call *call = args ? allm_tool_call_new(ALLM(tool_call, .id = id,
                                                          .name = name,
                                                          .arguments = args))
                                : NULL;
    allm_json_free(args);
    return call;
}

/* An engine with the tools slow and quick, and a call of each. */
struct pair {
    struct clock_manual clock;
    allm_engine *engine;
    allm_tool *tools[2];
    allm_tool_call *calls[2];
};

static void pair_init(struct pair *p, const char *slow, const char *quick,
                      uint32_t flags, bool manual)
{
    *p = (struct pair){ .clock = { 0, 0 } };
    p->engine = play_engine("{'script': []}", manual ? &p->clock : NULL);
    p->tools[0] = make_tool("slow", tools_do, TOOLS_SCRIPT(slow), flags);
    p->tools[1] = make_tool("quick", tools_do, TOOLS_SCRIPT(quick), flags);
    p->calls[0] = make_call("c0", "slow");
    p->calls[1] = make_call("c1", "quick");
}

static allm_stream *pair_stream(struct pair *p, allm_tool_calls_opts opts)
{
    if (!p->tools[0] || !p->tools[1] || !p->calls[0] || !p->calls[1])
        return NULL;
    opts.size = sizeof opts;
    opts.tools = (const allm_tool *const *)p->tools;
    opts.tool_count = 2;
    return allm_tool_calls(p->engine, 2,
                           (const allm_tool_call *const *)p->calls, &opts);
}

static void pair_release(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        allm_tool_free(p->tools[i]);
        allm_tool_call_free(p->calls[i]);
    }
    allm_engine_free(p->engine);
}

static void a_stream_of_tool_events(void)
{
    struct pair p;
    static const char *const ids[] = { "c1", "c1", "c1", "c0", "c0", "c0" };
    pair_init(&p, "later:20:text:slow", "text:quick", ALLM_TOOL_INLINE, true);
    allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
    const allm_event *event = NULL;
    size_t n = 0;
    while (allm_stream_next(s, &event) == ALLM_EVENT) {
        CHECK_INT(event->seq, n + 1);
        CHECK(n < 6 && !strcmp(event->id, ids[n]));
        n++;
    }
    CHECK_INT(n, 6);
    CHECK_TEXT(GET(allm_stream_tool_message(s, 0), text), "slow");
    CHECK_TEXT(GET(allm_stream_tool_message(s, 1), text), "quick");
    CHECK(!allm_stream_tool_message(s, 2));
    CHECK(!allm_stream_tool_halt(s));
    CHECK(!allm_stream_response(s));
    CHECK_INT(p.clock.now_ns, check_whole() ? 20000000 : p.clock.now_ns);
    allm_stream_free(s);
    pair_release(&p);
}

static void workers_serve_lone_streams(void)
{
    struct pair p;
    pair_init(&p, "later:5:text:slow", "halt:done:{'x':1}", 0, false);
    allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(GET(allm_stream_tool_message(s, 0), text), "slow");
    CHECK_VALUE(allm_stream_tool_halt(s),
                "{'halted_reason':'done','halt_tool_call_id':'c1',"
                "'halt_result':{'x':1}}");
    allm_stream_free(s);
    pair_release(&p);
}

/* The clock of the test does not advance while a function runs in a worker. */
static void time_waits_for_workers(void)
{
    for (int i = 0; i < 50; i++) {
        struct pair p;
        pair_init(&p, "text:slow", "later:10:text:quick", 0, true);
        allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        CHECK_TEXT(GET(allm_stream_tool_message(s, 0), text), "slow");
        CHECK_TEXT(GET(allm_stream_tool_message(s, 1), text), "quick");
        CHECK_INT(p.clock.now_ns, 10000000);
        allm_stream_free(s);
        pair_release(&p);
    }
}

static void many_streams_share_a_hub(void)
{
    enum { N = 8 };
    struct pair p[N];
    allm_stream *s[N];
    allm_hub *hub = allm_hub_new(NULL);
    for (int i = 0; i < N; i++) {
        pair_init(&p[i], "text:slow", "text:quick", 0, false);
        s[i] = pair_stream(&p[i], (allm_tool_calls_opts){ 0 });
        allm_hub_add(hub, s[i], NULL);
    }
    allm_stream *ready;
    const allm_event *event = NULL;
    while ((ready = allm_hub_wait(hub, -1, NULL)))
        while (allm_stream_next(ready, &event) == ALLM_EVENT)
            ;
    for (int i = 0; i < N; i++) {
        CHECK_TEXT(GET(allm_stream_tool_message(s[i], 0), text), "slow");
        allm_stream_free(s[i]);
        pair_release(&p[i]);
    }
    allm_hub_free(hub);
}

static void unknown_tools_are_an_event_and_an_error(void)
{
    struct pair p;
    pair_init(&p, "text:slow", "text:quick", ALLM_TOOL_INLINE, true);
    allm_stream *s =
        p.calls[0]
            ? allm_tool_calls(p.engine, 1,
                              (const allm_tool_call *const *)p.calls, NULL)
            : NULL;
    const allm_event *event = NULL;
    CHECK_INT(allm_stream_next(s, &event), ALLM_EVENT);
    CHECK_INT(GET(event, type), ALLM_EV_ERROR);
    CHECK_INT(allm_stream_next(s, &event), ALLM_OK);
    if (s && check_whole())
        CHECK_TEXT(allm_stream_error(s)->reason, "unknown_tool");
    allm_stream_free(s);
    pair_release(&p);
}

static void waited_for_an_unknown_tool_is_an_error(void)
{
    struct pair p;
    pair_init(&p, "text:slow", "text:quick", ALLM_TOOL_INLINE, true);
    allm_stream *s =
        p.calls[0]
            ? allm_tool_calls(p.engine, 1,
                              (const allm_tool_call *const *)p.calls, NULL)
            : NULL;
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_ENGINE);
    if (s && check_whole())
        CHECK_TEXT(allm_stream_error(s)->reason, "unknown_tool");
    CHECK(!allm_stream_tool_message(s, 0));
    allm_stream_free(s);
    pair_release(&p);
}

static const allm_tool *offered_tool;

static const allm_tool *const *offer(void *self, size_t *count)
{
    (void)self;
    *count = offered_tool ? 1 : 0;
    return &offered_tool;
}

static void run_offered(void *self, const allm_tool *tool, allm_tool_run *run,
                        const allm_json *args)
{
    (void)self;
    (void)tool;
    (void)args;
    allm_tool_text(run, "offered", ALLM_NUL_ENDED);
}

static void an_executor_runs_what_it_offers(void)
{
    static const allm_executor x = { .size = sizeof x, .execute = run_offered,
                                     .tools = offer };
    struct pair p;
    pair_init(&p, "text:slow", "text:quick", ALLM_TOOL_INLINE, true);
    allm_tool *tool =
        allm_tool_new(ALLM(tool, .name = p.calls[0] ? p.calls[0]->name : "x",
                           .description = "", .schema_text = "{}"));
    offered_tool = tool;
    allm_stream *s =
        p.calls[0] ? allm_tool_calls(p.engine, 1,
                                     (const allm_tool_call *const *)p.calls,
                                     ALLM(tool_calls_opts, .executor = &x))
                   : NULL;
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(GET(allm_stream_tool_message(s, 0), text), "offered");
    allm_stream_free(s);
    allm_tool_free(tool);
    pair_release(&p);
}

static void the_error_of_a_halt_has_a_type(void)
{
    struct pair p;
    pair_init(&p, "fail:no", "text:quick", ALLM_TOOL_INLINE, true);
    allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_WHY(!allm_stream_tool_error(s), "the policy is to continue");
    allm_stream_free(s);
    s = pair_stream(&p, (allm_tool_calls_opts){
                            .on_tool_error = ALLM_TOOL_POLICY_HALT });
    CHECK_WHY(!allm_stream_tool_error(s), "it has not ended");
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_ERROR(allm_stream_tool_error(s), ALLM_ERR_TOOL, "handler_failed",
                "no");
    CHECK_VALUE(allm_stream_tool_halt(s), "{'halted_reason':'tool_error',"
                                          "'halt_tool_call_id':'c0'}");
    allm_stream_free(s);
    pair_release(&p);
    CHECK(!allm_stream_tool_error(NULL));
}

static void misuse_is_reported(void)
{
    struct pair p;
    allm_tool_calls_opts none = { .size = 0 };
    pair_init(&p, "text:slow", "text:quick", ALLM_TOOL_INLINE, true);
    allm_stream *s = p.engine ? allm_tool_calls(p.engine, 0, NULL, &none)
                              : NULL;
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_MISUSE);
    allm_stream_free(s);
    s = pair_stream(&p, (allm_tool_calls_opts){ .on_tool_error = 9 });
    CHECK_INT(allm_stream_wait(s), ALLM_ERR_MISUSE);
    allm_stream_free(s);
    pair_release(&p);
    CHECK(!allm_stream_tool_message(NULL, 0) && !allm_stream_tool_halt(NULL));
}

static void cancelled_streams_have_no_results(void)
{
    struct pair p;
    const allm_event *event = NULL;
    pair_init(&p, "later:50:text:slow", "text:quick", ALLM_TOOL_INLINE, true);
    allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
    allm_stream_next(s, &event);
    allm_stream_cancel(s);
    CHECK_INT(allm_stream_next(s, &event), ALLM_ERR_STREAM);
    CHECK(!allm_stream_tool_message(s, 1));
    allm_stream_free(s);
    pair_release(&p);
}

/* ---------------------------------------------------------- from inside --- */

/* A tool that runs tools by the same engine. */
static void run_inside(allm_tool_run *run, const allm_json *args, void *ud)
{
    struct pair *p = ud;
    (void)args;
    allm_stream *s =
        allm_tool_calls(p->engine, 1,
                        (const allm_tool_call *const *)&p->calls[1],
                        ALLM(tool_calls_opts, .tool_count = 1,
                             .tools = (const allm_tool *const *)&p->tools[1]));
    allm_stream_wait(s);
    const allm_message *m = allm_stream_tool_message(s, 0);
    allm_tool_text(run, m ? m->text : "nothing", ALLM_NUL_ENDED);
    allm_stream_free(s);
}

static void tools_may_call_back_into_the_engine(void)
{
    for (int in_worker = 0; in_worker < 2; in_worker++) {
        struct pair p;
        pair_init(&p, "none", "text:inner", in_worker ? 0 : ALLM_TOOL_INLINE,
                  false);
        allm_tool_free(p.tools[0]);
        p.tools[0] = make_tool("slow", run_inside, &p,
                               in_worker ? 0 : ALLM_TOOL_INLINE);
        allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        CHECK_TEXT(GET(allm_stream_tool_message(s, 0), text), "inner");
        allm_stream_free(s);
        pair_release(&p);
    }
}

/* ------------------------------------------------------------- deferred --- */

static allm_tool_run *kept;

static void *answer_kept(void *arg)
{
    (void)arg;
    allm_tool_text(kept, "from afar", 9);
    allm_tool_run_free(kept);
    return NULL;
}

static void defer(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    kept = allm_tool_defer(run);
    pthread_create(ud, NULL, answer_kept, NULL);
}

static void a_stream_waits_for_deferred_answers(void)
{
    for (int i = 0; i < 20; i++) {
        struct pair p;
        pthread_t thread;
        pair_init(&p, "none", "text:quick", 0, false);
        allm_tool_free(p.tools[0]);
        p.tools[0] = make_tool("slow", defer, &thread,
                               i % 2 ? ALLM_TOOL_INLINE : 0);
        allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
        CHECK_INT(allm_stream_wait(s), ALLM_OK);
        CHECK_TEXT(GET(allm_stream_tool_message(s, 0), text), "from afar");
        pthread_join(thread, NULL);
        allm_stream_free(s);
        pair_release(&p);
    }
}

/* ---------------------------------------------------------------- trace --- */

static char spans[256];

static void on_trace(const allm_trace_event *e, void *ud)
{
    size_t at = strlen(spans);
    (void)ud;
    const char *tool = allm_json_text(allm_json_get(e->metadata, "tool"), NULL);
    snprintf(spans + at, sizeof spans - at, "%s%s/%s/%s/%s", at ? " " : "",
             e->span, e->what, tool ? tool : "-", e->request_id);
}

static void calls_are_spans(void)
{
    struct pair p;
    spans[0] = '\0';
    pair_init(&p, "later:40000:text:slow", "raise:x", ALLM_TOOL_INLINE, true);
    allm_engine_free(p.engine);
    allm_clock clock = play_clock(&p.clock);
    p.engine = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                    .clock = &clock, .trace = on_trace));
    allm_stream *s = pair_stream(&p,
                                 (allm_tool_calls_opts){ .request_id = "r" });
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK_TEXT(spans, "tool/start/slow/r tool/start/quick/r tool/stop/quick/r "
                      "tool/exception/slow/r");
    allm_stream_free(s);
    pair_release(&p);
}

/* ------------------------------------------------------------ abandoned --- */

struct sign {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool entered, open;
};

static void wait_for_sign(allm_tool_run *run, const allm_json *args, void *ud)
{
    struct sign *g = ud;
    (void)args;
    pthread_mutex_lock(&g->lock);
    g->entered = true;
    pthread_cond_broadcast(&g->change);
    while (!g->open)
        pthread_cond_wait(&g->change, &g->lock);
    pthread_mutex_unlock(&g->lock);
    allm_tool_text(run, "late", 4);
}

static void freeing_a_stream_gives_its_functions_up(void)
{
    struct sign g = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                      false, false };
    struct pair p;
    const allm_event *event = NULL;
    size_t blocks = check_live_blocks(), bytes = check_live_bytes();
    pair_init(&p, "none", "text:quick", 0, false);
    allm_tool_free(p.tools[0]);
    p.tools[0] = make_tool("slow", wait_for_sign, &g, 0);
    allm_stream *s = pair_stream(&p, (allm_tool_calls_opts){ 0 });
    CHECK_INT(allm_stream_next(s, &event), ALLM_EVENT); /* of the quick one */
    pthread_mutex_lock(&g.lock);
    while (!g.entered)
        pthread_cond_wait(&g.change, &g.lock);
    pthread_mutex_unlock(&g.lock);
    allm_stream_free(s);
    pair_release(&p);
    pthread_mutex_lock(&g.lock);
    g.open = true;
    pthread_cond_broadcast(&g.change);
    pthread_mutex_unlock(&g.lock);
    while (check_live_blocks() != blocks || check_live_bytes() != bytes)
        sched_yield();
}

TESTS = {
    TEST(a_stream_of_tool_events),
    TEST_ONCE(workers_serve_lone_streams),
    TEST_ONCE(time_waits_for_workers),
    TEST_ONCE(many_streams_share_a_hub),
    TEST(unknown_tools_are_an_event_and_an_error),
    TEST(waited_for_an_unknown_tool_is_an_error),
    TEST(an_executor_runs_what_it_offers),
    TEST(the_error_of_a_halt_has_a_type),
    TEST(misuse_is_reported),
    TEST(cancelled_streams_have_no_results),
    TEST_ONCE(tools_may_call_back_into_the_engine),
    TEST_ONCE(a_stream_waits_for_deferred_answers),
    TEST(calls_are_spans),
    TEST_ONCE(freeing_a_stream_gives_its_functions_up),
    TESTS_END,
};
