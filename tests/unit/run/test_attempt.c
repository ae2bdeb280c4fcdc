/*
 * test_attempt.c - attempts that wait for the pacer of their engine
 *
 * The scripted model and a clock that jumps: a wait is a deadline, so the test
 * does not wait.
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <stdio.h>

#define MS INT64_C(1000000)
enum { STREAMS = 6 };

struct calls {
    struct clock_manual clock;
    allm_pacer *pacer;
    allm_engine *engine;
    allm_hub *hub;
    allm_stream *stream[STREAMS];
    int64_t ended_ns[STREAMS];
};

static void begin_calls(struct calls *c, const char *script,
                        const allm_pacer_opts *opts)
{
    *c = (struct calls){ .clock = { 0 } };
    allm_clock clock = play_clock(&c->clock);
    allm_json *options = play_json(script);
    c->pacer = allm_pacer_new(opts);
    c->engine = allm_engine_new(ALLM(engine_opts, .model = "fake:m",
                                     .adapter_opts = options, .clock = &clock,
                                     .pacer = c->pacer));
    c->hub = allm_hub_new(ALLM(hub_opts, .clock = &clock));
    allm_json_free(options);
}

static void add_call(struct calls *c, size_t i, const allm_call_opts *opts)
{
    c->stream[i] = play_call_with(c->engine, opts);
    CHECK_INT(allm_hub_add(c->hub, c->stream[i], &c->ended_ns[i]), ALLM_OK);
}

/* Run all streams to their end, and write down when each ended. */
static void run_calls(struct calls *c)
{
    void *tag;
    allm_stream *s;
    while ((s = allm_hub_wait(c->hub, -1, &tag))) {
        allm_status status;
        while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
            continue;
        if (status != ALLM_AGAIN)
            *(int64_t *)tag = c->clock.now_ns;
    }
}

static void end_calls(struct calls *c)
{
    for (size_t i = 0; i < STREAMS; i++)
        allm_stream_free(c->stream[i]);
    allm_hub_free(c->hub);
    allm_engine_free(c->engine);
    allm_pacer_free(c->pacer);
}

static const char *text_of(const allm_stream *s)
{
    const allm_response *r = allm_stream_response(s);
    return r && r->output_text ? r->output_text : "";
}

#define FOUR_MORE(s) s "," s "," s "," s
#define SIX(s) "{'scripts': [" s "," s "," FOUR_MORE(s) "]}"
#define ONE "[['text', 'hi'], ['finish', 'stop']]"
#define SLOW "[['delay', 1000], ['text', 'hi'], ['finish', 'stop']]"
#define SAYS_HI SIX(ONE)

static void requests_wait_for_their_minute(void)
{
    struct calls c;
    begin_calls(&c, SAYS_HI, ALLM(pacer_opts, .rpm = 60));
    for (size_t i = 0; i < STREAMS; i++)
        add_call(&c, i, NULL);
    run_calls(&c);
    for (size_t i = 0; i < STREAMS; i++)
        CHECK_TEXT(text_of(c.stream[i]), "hi");
    CHECK(c.clock.now_ns >= 4800 * MS && c.clock.now_ns <= 5100 * MS);
    end_calls(&c);
}

static void few_are_in_flight(void)
{
    struct calls c;
    begin_calls(&c, SIX(SLOW), ALLM(pacer_opts, .max_in_flight = 2));
    for (size_t i = 0; i < STREAMS; i++)
        add_call(&c, i, NULL);
    run_calls(&c);
    for (size_t i = 0; i < STREAMS; i++)
        CHECK_TEXT(text_of(c.stream[i]), "hi");
    CHECK(c.clock.now_ns >= 3000 * MS && c.clock.now_ns <= 3100 * MS);
    end_calls(&c);
}

static void a_wait_is_not_silence(void)
{
    struct calls c;
    begin_calls(&c, SAYS_HI, ALLM(pacer_opts, .rpm = 1));
    add_call(&c, 0, NULL);
    add_call(&c, 1, ALLM(call_opts, .first_ms = 1000));
    add_call(&c, 2, ALLM(call_opts, .total_ms = 1000));
    run_calls(&c);
    CHECK_TEXT(text_of(c.stream[1]), "hi"); /* after a minute */
    CHECK(c.ended_ns[1] >= 59000 * MS);
    CHECK(allm_stream_error(c.stream[2]) != NULL);
    CHECK(c.ended_ns[2] >= 1000 * MS && c.ended_ns[2] <= 1100 * MS);
    end_calls(&c);
}

static void a_refusal_stops_the_others(void)
{
    struct calls c;
    begin_calls(&c,
                "{'scripts': [[['error', 'rate_limited']],"
                " [['text', 'a'], ['finish', 'stop']],"
                " [['text', 'b'], ['finish', 'stop']]]}",
                ALLM(pacer_opts, .max_in_flight = 1));
    add_call(&c, 0, NULL);
    add_call(&c, 1, NULL);
    run_calls(&c);
    CHECK(c.ended_ns[0] == 0 && c.ended_ns[1] >= 1000 * MS);
    end_calls(&c);
}

static void a_stream_that_is_freed_lets_others_go(void)
{
    struct calls c;
    begin_calls(&c, SAYS_HI, ALLM(pacer_opts, .max_in_flight = 1));
    for (size_t i = 0; i < 4; i++) {
        add_call(&c, i, NULL);
        allm_stream_next(c.stream[i], NULL);
    }
    allm_stream_hold(c.stream[1], true);
    allm_stream_next(c.stream[1], NULL);
    allm_stream_free(c.stream[0]);
    c.stream[0] = NULL;
    allm_stream_free(c.stream[2]);
    c.stream[2] = NULL;
    while (c.stream[3] && allm_stream_next(c.stream[3], NULL) == ALLM_EVENT)
        continue;
    CHECK_TEXT(text_of(c.stream[3]), "hi");
    allm_stream_hold(c.stream[1], false);
    run_calls(&c);
    CHECK_TEXT(text_of(c.stream[1]), "hi");
    end_calls(&c);
}

TESTS = {
    TEST(requests_wait_for_their_minute),
    TEST(few_are_in_flight),
    TEST(a_wait_is_not_silence),
    TEST(a_refusal_stops_the_others),
    TEST_ONCE(a_stream_that_is_freed_lets_others_go),
    TESTS_END
};
