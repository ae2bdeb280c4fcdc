/*
 * test_hold.c - streams that are held: what stops, and what continues
 *
 * With the scripted model and a clock that jumps, and over real sockets.
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"
#include "harness/turns.h"

#include <poll.h>
#include <stdio.h>

enum { PATIENCE = 20000 };      /* ms; only a broken test waits so long */

static allm_hub *hub_of(struct clock_manual *clock)
{
    allm_clock c = play_clock(clock);
    return allm_hub_new(ALLM(hub_opts, .clock = &c));
}

/* Pull all available events. */
static allm_status drain(allm_stream *s)
{
    allm_status status;
    while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
        ;
    return status;
}

static const char *text_of(const allm_stream *s)
{
    const allm_response *r = allm_stream_response(s);
    return r ? r->output_text : "";
}

static const char *reason_of(const allm_stream *s)
{
    const allm_error *error = allm_stream_error(s);
    return error ? error->reason : "";
}

/* ------------------------------------------------------- scripted model --- */

struct two {
    struct clock_manual clock;
    allm_engine *engine;
    allm_hub *hub;
    allm_stream *a, *b;
};

/* Stream a with these options, and b, which ends after 100 ms. */
static void begin(struct two *t, const char *script, const allm_call_opts *opts)
{
    char all[512];
    *t = (struct two){ .clock = { 0 } };
    snprintf(all, sizeof all,
             "{'scripts': [%s, [['text','x'],['delay',100],"
             "['text','y']]]}",
             script);
    t->engine = play_engine(all, &t->clock);
    t->hub = hub_of(&t->clock);
    t->a = play_call_with(t->engine, opts);
    t->b = play_call(t->engine);
    allm_hub_add(t->hub, t->a, NULL);
    allm_hub_add(t->hub, t->b, NULL);
}

static void end(struct two *t)
{
    allm_stream_free(t->a);
    allm_stream_free(t->b);
    allm_hub_free(t->hub);
    allm_engine_free(t->engine);
}

/* Visit streams until this one has been named; false: it never was. */
static bool run_until_named(struct two *t, const allm_stream *want, int ms)
{
    for (allm_stream *s; (s = allm_hub_wait(t->hub, ms, NULL));) {
        if (s == want)
            return true;
        drain(s);
    }
    return false;
}

/* Until b has ended, 100 ms from the beginning; a is not named. */
static void run_b(struct two *t)
{
    allm_stream *s;
    do {
        s = allm_hub_wait(t->hub, 1000, NULL);
        CHECK(s == t->b);
    } while (s && drain(s) == ALLM_AGAIN);
    CHECK_INT(t->clock.now_ns, 100000000);
}

static void a_held_stream_is_not_named(void)
{
    struct two t;
    begin(&t, "[['text','a'],['delay',1],['text','b']]", NULL);
    CHECK(run_until_named(&t, t.a, 0));
    allm_stream_hold(t.a, true);
    CHECK_INT(allm_stream_next(t.a, NULL), ALLM_AGAIN);
    CHECK_INT(allm_stream_wait(t.a), ALLM_AGAIN);
    CHECK(!run_until_named(&t, t.a, 200));
    CHECK_TEXT(text_of(t.b), "xy");
    CHECK_INT(allm_hub_count(t.hub), 1);
    CHECK_INT(allm_hub_timeout(t.hub), -1);

    struct pollfd fd = { .fd = allm_hub_fd(t.hub), .events = POLLIN };
    CHECK_INT(poll(&fd, 1, 0), 0);
    allm_stream_hold(t.a, false);
    CHECK_INT(poll(&fd, 1, 0), 1);
    CHECK_INT(allm_hub_timeout(t.hub), 0);
    while (run_until_named(&t, t.a, 10))
        drain(t.a);
    CHECK_TEXT(text_of(t.a), "ab");
    end(&t);
}

/* It says b 200 ms after a, and may be silent for 150; 100 of the 200 it is
 * held. */
static void silence_does_not_count_while_it_is_held(void)
{
    static const char *const scripts[] = {
        "[['text','a'],['delay',200],['text','b']]",
        "[['delay',200],['text','ab']]",
    };
    for (int i = 0; i < 2; i++) {
        struct two t;
        begin(&t, scripts[i],
              ALLM(call_opts, .silence_ms = 150, .first_ms = 150));
        CHECK(run_until_named(&t, t.a, 0));
        drain(t.a);
        allm_stream_hold(t.a, true);
        run_b(&t);
        allm_stream_hold(t.a, false);
        while (run_until_named(&t, t.a, 1000))
            drain(t.a);
        CHECK_TEXT(text_of(t.a), "ab");
        CHECK_TEXT(reason_of(t.a), "");
        end(&t);
    }
}

/* The rest of the time runs on when it is let go. */
static void silence_counts_again_afterwards(void)
{
    struct two t;
    begin(&t, "[['text','a'],['delay',900],['text','b']]",
          ALLM(call_opts, .silence_ms = 150));
    CHECK(run_until_named(&t, t.a, 0));
    drain(t.a);
    allm_stream_hold(t.a, true);
    run_b(&t);
    allm_stream_hold(t.a, false);
    while (run_until_named(&t, t.a, 1000))
        drain(t.a);
    CHECK_TEXT(reason_of(t.a), "timeout");
    CHECK_INT(t.clock.now_ns, 250000000);
    end(&t);
}

static void the_time_of_the_whole_call_goes_on(void)
{
    struct two t;
    begin(&t, "[['text','a'],['delay',900],['text','b']]",
          ALLM(call_opts, .total_ms = 50));
    CHECK(run_until_named(&t, t.a, 0));
    drain(t.a);
    allm_stream_hold(t.a, true);
    CHECK(run_until_named(&t, t.a, 1000));
    CHECK_INT(t.clock.now_ns, 50000000);
    CHECK_INT(drain(t.a), ALLM_OK);
    CHECK_TEXT(reason_of(t.a), "timeout");
    end(&t);
}

static void a_held_stream_is_named_when_it_is_cancelled(void)
{
    struct two t;
    begin(&t, "[['text','a'],['delay',900],['text','b']]", NULL);
    CHECK(run_until_named(&t, t.a, 0));
    drain(t.a);
    allm_stream_hold(t.a, true);
    allm_stream_cancel(t.a);
    CHECK(run_until_named(&t, t.a, 0));
    CHECK_INT(drain(t.a), ALLM_OK);
    CHECK_TEXT(reason_of(t.a), "cancelled");
    allm_stream_hold(t.a, false);       /* after the end: nothing */
    end(&t);
}

/* One that failed before it was held says so. */
static void a_call_that_cannot_begin_is_named(void)
{
    struct two t;
    begin(&t, "[]", ALLM(call_opts, .model = ""));
    if (allm_stream_error(t.a)) {
        allm_stream_hold(t.a, true);
        CHECK(run_until_named(&t, t.a, 0));
        CHECK(drain(t.a) < 0);
    }
    end(&t);
}

static void a_stream_alone_can_be_held(void)
{
    struct clock_manual clock = { 0 };
    allm_engine *e = play_engine("{'scripts': [[['text','a']]]}", &clock);
    allm_stream *s = play_call(e);
    allm_stream_hold(s, true);
    allm_stream_hold(s, true);
    CHECK_INT(allm_stream_wait(s), ALLM_AGAIN);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
    allm_stream_hold(s, false);
    CHECK_INT(drain(s), ALLM_OK);
    CHECK_TEXT(text_of(s), "a");
    allm_stream_hold(NULL, true);
    allm_stream_free(s);
    allm_engine_free(e);
}

/* ----------------------------------------------------------- connecting --- */

static struct allm_exchange *open_never(void *self, const allm_http_view *view,
                                        allm_waker *waker,
                                        const allm_error **error)
{
    (void)view, (void)waker, (void)error;
    return self;
}

static allm_status read_never(void *self, allm_exchange *x, allm_chunk *chunk)
{
    (void)self, (void)x, (void)chunk;
    return ALLM_AGAIN;
}

static bool never(void *self, allm_exchange *x)
{
    (void)self, (void)x;
    return false;
}

static const allm_http_head *no_head(void *self, allm_exchange *x)
{
    (void)self, (void)x;
    return NULL;
}

static void close_never(void *self, allm_exchange *x)
{
    (void)self, (void)x;
}

static void the_time_to_connect_goes_on(void)
{
    struct clock_manual clock = { 0 };
    char self;
    allm_clock c = play_clock(&clock);
    allm_json *off = play_json("false");
    allm_engine *e = allm_engine_new(
        ALLM(engine_opts, .model = "openai:m", .clock = &c, .retry = off,
             .transport = ALLM(transport, .self = &self, .open = open_never,
                               .read = read_never, .ready = never,
                               .head = no_head, .close = close_never)));
    allm_hub *hub = hub_of(&clock);
    allm_stream *s =
        play_call_with(e, ALLM(call_opts, .api_key = "k", .connect_ms = 50));
    allm_hub_add(hub, s, NULL);
    CHECK(allm_hub_wait(hub, 0, NULL) == s);
    CHECK_INT(drain(s), ALLM_AGAIN);
    allm_stream_hold(s, true);
    CHECK(!allm_hub_wait(hub, 49, NULL));
    CHECK(allm_hub_wait(hub, 1000, NULL) == s);
    CHECK_INT(clock.now_ns, 50000000);
    CHECK_INT(drain(s), ALLM_ERR_ADAPTER);
    CHECK_TEXT(reason_of(s), "timeout");
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
    allm_json_free(off);
}

/* ---------------------------------------------------------------- tools --- */

#define CALL(id, name) \
    "['tool_call', {'id': '" id "', 'name': '" name "', 'arguments': {}}]"

static int entries;

static allm_status count_entry(const allm_journal_entry *entry, void *ud)
{
    (void)entry;
    (void)ud;
    entries++;
    return ALLM_OK;
}

/* Pull until an event of this type, and hold there. */
static void pull_to(allm_stream *s, allm_event_type type)
{
    const allm_event *event;
    while (allm_stream_next(s, &event) == ALLM_EVENT && event->type != type)
        ;
    allm_stream_hold(s, true);
}

/* Held before its tools, and before the next request. */
static void nothing_new_is_begun_while_a_chat_is_held(void)
{
    static const struct {
        allm_event_type where;
        int runs;
    } rows[] = { { ALLM_EV_MESSAGE_COMPLETED, 0 },
                 { ALLM_EV_STEP_COMPLETED, 2 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clock_manual clock = { 0 };
        allm_engine *e = turns_engine(
            "[[" CALL("c0", "one") ", " CALL(
                "c1", "two") ", "
                             "['finish', 'tool_calls']], [['text','done']]]",
            "one=ok:1;two=ok:2", &clock);
        allm_thread *thread = turns_thread();
        allm_stream *s = allm_chat(e, thread,
                                   ALLM(call_opts, .journal = count_entry,
                                        .max_concurrency = 1));
        turns_runs();
        pull_to(s, rows[i].where);
        int before = entries;
        CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
        CHECK_INT(allm_stream_wait(s), ALLM_AGAIN);
        CHECK_INT(entries, before);
        CHECK_INT(turns_runs(), rows[i].runs);
        allm_stream_hold(s, false);
        CHECK_INT(drain(s), ALLM_OK);
        CHECK_TEXT(text_of(s), "done");
        allm_stream_free(s);
        allm_thread_free(thread);
        allm_engine_free(e);
    }
}

/* The time of a whole chat goes on: a deferred tool is given up. */
static void a_held_chat_is_named_when_its_time_is_over(void)
{
    struct clock_manual clock = { 0 };
    allm_engine *e =
        turns_engine("[[" CALL("c0", "one") ", "
                                            "['finish', 'tool_calls']], "
                                            "[['text','done']]]",
                     "one=later:900:ok:1", &clock);
    allm_thread *thread = turns_thread();
    allm_hub *hub = hub_of(&clock);
    allm_stream *s = allm_chat(e, thread, ALLM(call_opts, .total_ms = 50));
    allm_hub_add(hub, s, NULL);
    CHECK(allm_hub_wait(hub, 0, NULL) == s);
    CHECK_INT(drain(s), ALLM_AGAIN);
    allm_stream_hold(s, true);
    CHECK(allm_hub_wait(hub, 10000, NULL) == s);
    CHECK_INT(clock.now_ns, 50000000);
    CHECK_INT(drain(s), ALLM_OK);
    CHECK_TEXT(reason_of(s), "timeout");
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_thread_free(thread);
    allm_engine_free(e);
}

/* A tool that runs in a worker thread continues, and its result waits. */
static void a_tool_that_runs_goes_on(void)
{
    allm_engine *e =
        turns_engine("[[" CALL("c0", "one") ", "
                                            "['finish', 'tool_calls']], "
                                            "[['text','done']]]",
                     "one~=ok:1", NULL);
    allm_thread *thread = turns_thread();
    allm_stream *s = allm_chat(e, thread, NULL);
    allm_hub *hub = allm_hub_new(NULL);
    int runs = 0;
    turns_runs();
    allm_hub_add(hub, s, NULL);
    while (check_whole() && allm_hub_wait(hub, 0, NULL) &&
           drain(s) == ALLM_AGAIN)
        ;                       /* the tool runs, or has run */
    allm_stream_hold(s, true);
    for (int i = 0; check_whole() && !runs && i < PATIENCE / 10; i++) {
        CHECK(!allm_hub_wait(hub, 10, NULL));
        runs += turns_runs();
    }
    CHECK_INT(runs, 1);
    CHECK(!allm_hub_wait(hub, 10, NULL));
    allm_stream_hold(s, false);
    while (allm_hub_wait(hub, PATIENCE, NULL))
        drain(s);
    CHECK_TEXT(text_of(s), "done");
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_thread_free(thread);
    allm_engine_free(e);
}

TESTS = {
    TEST(a_held_stream_is_not_named),
    TEST(silence_does_not_count_while_it_is_held),
    TEST(silence_counts_again_afterwards),
    TEST(the_time_of_the_whole_call_goes_on),
    TEST(a_held_stream_is_named_when_it_is_cancelled),
    TEST(a_call_that_cannot_begin_is_named),
    TEST(a_stream_alone_can_be_held),
    TEST(the_time_to_connect_goes_on),
    TEST(nothing_new_is_begun_while_a_chat_is_held),
    TEST(a_held_chat_is_named_when_its_time_is_over),
    TEST_ONCE(a_tool_that_runs_goes_on),
    TESTS_END,
};
