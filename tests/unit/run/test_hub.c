/* test_hub.c - many streams in one hub */
#include "run/hub.h"

#include "harness/check.h"
#include "harness/play.h"

#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* n calls of the same entries. */
static allm_engine *engine_for(size_t n, const char *entries,
                               struct clock_manual *clock)
{
    static char opts[8192];
    size_t at = (size_t)snprintf(opts, sizeof opts, "{'scripts': [");
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(opts + at, sizeof opts - at, "%s%s",
                               i ? "," : "", entries);
    snprintf(opts + at, sizeof opts - at, "]}");
    return play_engine(opts, clock);
}

static allm_hub *hub_of(struct clock_manual *clock)
{
    allm_clock c = play_clock(clock);
    return allm_hub_new(ALLM(hub_opts, .clock = clock ? &c : NULL));
}

/* --------------------------------------------------------------- misuse --- */

static void nothing_is_accepted_instead_of_a_hub(void)
{
    void *tag;
    CHECK_INT(allm_hub_error(NULL)->kind, ALLM_ERR_NOMEM);
    CHECK_INT(allm_hub_add(NULL, NULL, NULL), ALLM_ERR_NOMEM);
    CHECK(!allm_hub_wait(NULL, -1, &tag));
    CHECK_INT(allm_hub_fd(NULL), -1);
    CHECK_INT(allm_hub_timeout(NULL), -1);
    CHECK_INT(allm_hub_count(NULL), 0);
    allm_hub_free(NULL);
}

static void options_must_have_a_size(void)
{
    allm_hub_opts none = { .size = 0 };
    allm_hub *hub = allm_hub_new(&none);
    const allm_error *error = allm_hub_error(hub);
    CHECK(error && error->kind == ALLM_ERR_MISUSE);
    allm_engine *e = engine_for(1, "[]", NULL);
    allm_stream *s = play_call(e);
    CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_ERR_MISUSE);
    CHECK(!allm_hub_wait(hub, -1, NULL));
    CHECK_INT(allm_hub_fd(hub), -1);
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* Why the hub refused, or "". */
static const char *why(const allm_hub *hub)
{
    const allm_error *error = allm_hub_error(hub);
    return error ? error->reason : "";
}

/* A refusal leaves the hub as it was, and is forgotten at the next success. */
static void check_refused(allm_hub *hub, allm_stream *s, const char *reason)
{
    size_t count = allm_hub_count(hub);
    CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_ERR_MISUSE);
    CHECK_TEXT(why(hub), reason);
    CHECK(strlen(allm_hub_error(hub)->message) > 40);
    CHECK_INT(allm_hub_count(hub), count);
    CHECK(allm_hub_fd(hub) >= 0);
}

static void streams_are_added_once_and_early(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = engine_for(4, "[]", NULL);
    allm_engine *other = engine_for(1, "[]", &clock);
    allm_hub *a = allm_hub_new(NULL), *b = allm_hub_new(NULL);
    allm_stream *s = play_call(e), *t = play_call(e), *u = play_call(other);
    allm_stream *late = play_call(e);
    CHECK_INT(allm_hub_add(a, s, NULL), ALLM_OK);
    CHECK_TEXT(why(a), "");
    allm_stream_next(t, NULL);
    if (check_whole()) {
        check_refused(a, s, "seated");
        check_refused(b, s, "seated");
        check_refused(a, t, "pulled");
        check_refused(a, u, "other_clock");
    }
    CHECK_INT(allm_stream_wait(t), ALLM_OK);    /* it goes on alone */
    CHECK(!allm_stream_error(t));
    CHECK_INT(allm_hub_add(a, late, NULL), ALLM_OK);
    CHECK_TEXT(why(a), "");
    CHECK_INT(allm_hub_count(a), 2);
    allm_stream_free(s);
    allm_stream_free(t);
    allm_stream_free(u);
    allm_stream_free(late);
    CHECK_INT(allm_hub_count(a), 0);
    allm_hub_free(a);
    allm_hub_free(b);
    allm_engine_free(e);
    allm_engine_free(other);
}

static void a_missing_stream_is_a_lack_of_memory(void)
{
    allm_hub *hub = allm_hub_new(NULL);
    CHECK_INT(allm_hub_add(hub, NULL, NULL), ALLM_ERR_NOMEM);
    CHECK_INT(allm_hub_error(hub)->kind, ALLM_ERR_NOMEM);
    CHECK(!allm_hub_wait(hub, 0, NULL));
    allm_hub_free(hub);
}

/* It has failed for good; another hub would name it for ever. */
static void a_stream_of_a_freed_hub_finds_no_other(void)
{
    allm_engine *e = engine_for(1, "[]", NULL);
    allm_hub *gone = allm_hub_new(NULL), *hub = allm_hub_new(NULL);
    allm_stream *s = play_call(e);
    allm_hub_add(gone, s, NULL);
    allm_hub_free(gone);
    if (check_whole())
        check_refused(hub, s, "hub_gone");
    CHECK(!allm_hub_wait(hub, 0, NULL));
    CHECK_INT(allm_stream_next(s, NULL), ALLM_ERR_MISUSE);
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* Another descriptor where the hub's was, as after a close() too many. */
static void a_hub_that_cannot_wait_says_so(void)
{
    int ends[2];
    allm_engine *e = engine_for(1, "[['delay',60000]]", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = play_call(e);
    allm_hub_add(hub, s, NULL);
    while (allm_hub_wait(hub, 0, NULL))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    if (check_whole() && CHECK(pipe(ends) == 0)) {
        dup2(ends[0], allm_hub_fd(hub));
        CHECK(!allm_hub_wait(hub, -1, NULL));
        CHECK_TEXT(why(hub), "cannot_wait");
        allm_stream_cancel(s);
        CHECK(allm_hub_wait(hub, -1, NULL) == s);
        CHECK_TEXT(why(hub), "");
        close(ends[0]);
        close(ends[1]);
    }
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* Without a timer the descriptor would not show the stream. */
static void no_stream_is_taken_that_cannot_be_shown(void)
{
    struct rlimit old, none;
    allm_engine *e = engine_for(1, "[]", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = play_call(e);
    int next = dup(allm_hub_fd(hub));
    if (check_whole() && CHECK(next >= 0 && !getrlimit(RLIMIT_NOFILE, &old))) {
        none = old;
        none.rlim_cur = (rlim_t)next;
        close(next);
        setrlimit(RLIMIT_NOFILE, &none);
        CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_ERR_ENGINE);
        CHECK_TEXT(why(hub), "invalid_engine");
        CHECK_INT(allm_hub_count(hub), 0);
        setrlimit(RLIMIT_NOFILE, &old);
        CHECK_INT(allm_hub_add(hub, s, NULL), ALLM_OK);
        CHECK_TEXT(why(hub), "");
        next = -1;
    }
    if (next >= 0)
        close(next);
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* -------------------------------------------------------------- driving --- */

static void an_empty_hub_does_not_wait(void)
{
    allm_hub *hub = allm_hub_new(NULL);
    CHECK(!allm_hub_wait(hub, -1, NULL));
    CHECK(!allm_hub_wait(hub, 0, NULL));
    CHECK_INT(allm_hub_timeout(hub), -1);
    allm_hub_free(hub);
}

enum { MANY = 20 };

static void many_streams_end_in_one_thread(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_stream *streams[MANY], *s;
    size_t got[MANY] = { 0 };
    void *tag;
    allm_engine *e =
        engine_for(MANY, "[['text','a'],['delay',10],['text','b']]", &clock);
    allm_hub *hub = hub_of(&clock);
    for (size_t i = 0; i < MANY; i++) {
        streams[i] = play_call(e);
        CHECK_INT(allm_hub_add(hub, streams[i], &got[i]), ALLM_OK);
    }
    while ((s = allm_hub_wait(hub, -1, &tag)))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ++*(size_t *)tag;
    CHECK_INT(clock.now_ns, 10 * 1000000);      /* all at the same time */
    CHECK_INT(allm_hub_count(hub), 0);  /* a stream that has ended has left */
    for (size_t i = 0; i < MANY; i++) {
        const allm_response *r = allm_stream_response(streams[i]);
        CHECK_INT(got[i], 5);
        CHECK(r && !strcmp(r->output_text, "ab"));
        allm_stream_free(streams[i]);
    }
    allm_hub_free(hub);
    allm_engine_free(e);
}

static void deadlines_come_in_their_order(void)
{
    struct clock_manual clock = { 0, 0 };
    char order[16] = "";
    allm_stream *s, *streams[3];
    void *tag;
    char names[] = { 'a', '\0', 'b', '\0', 'c', '\0' };
    allm_engine *e = play_engine("{'scripts': [[['delay',30],['text','x']],"
                                 "[['delay',10],['text','x']],"
                                 "[['delay',20],['text','x']]]}",
                                 &clock);
    allm_hub *hub = hub_of(&clock);
    for (int i = 0; i < 3; i++) {
        streams[i] = play_call(e);
        allm_hub_add(hub, streams[i], &names[2 * i]);
    }
    const allm_event *event;
    while ((s = allm_hub_wait(hub, -1, &tag)))
        while (allm_stream_next(s, &event) == ALLM_EVENT)
            if (event->type == ALLM_EV_TEXT_DELTA)
                strncat(order, tag, sizeof order - strlen(order) - 1);
    CHECK_TEXT(order, "bca");
    for (int i = 0; i < 3; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
    allm_engine_free(e);
}

static void time_runs_out(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_engine *e = engine_for(1, "[['delay',100],['text','x']]", &clock);
    allm_hub *hub = hub_of(&clock);
    allm_stream *s = play_call(e);
    allm_hub_add(hub, s, NULL);
    CHECK_INT(allm_hub_timeout(hub), 0);
    CHECK(allm_hub_wait(hub, 0, NULL) == s);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_EVENT);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_AGAIN);
    CHECK_INT(allm_hub_timeout(hub), 100);
    CHECK(!allm_hub_wait(hub, 40, NULL));
    CHECK_INT(clock.now_ns, 40 * 1000000);
    CHECK_INT(allm_hub_timeout(hub), 60);
    CHECK(allm_hub_wait(hub, 1000, NULL) == s);
    CHECK_INT(clock.now_ns, 100 * 1000000);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_EVENT);
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* One that talks without end does not keep the other waiting. */
static void a_talkative_stream_takes_turns(void)
{
    char script[8192];
    size_t at = (size_t)snprintf(script, sizeof script, "{'scripts': [[");
    for (int i = 0; i < 300; i++)
        at += (size_t)snprintf(script + at, sizeof script - at,
                               "%s['text','a']", i ? "," : "");
    snprintf(script + at, sizeof script - at, "],[['text','b']]]}");
    allm_engine *e = play_engine(script, NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *loud = play_call(e), *quiet = play_call(e), *s;
    size_t events = 0, before_quiet = 0;
    allm_hub_add(hub, loud, NULL);
    allm_hub_add(hub, quiet, NULL);
    while ((s = allm_hub_wait(hub, -1, NULL))) {
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            events += s == loud;
        if (s == quiet && !before_quiet)
            before_quiet = events;
    }
    CHECK_INT(before_quiet, HUB_VISIT);
    CHECK_INT(events, 303);
    allm_stream_free(loud);
    allm_stream_free(quiet);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* A caller that pulls one event at a time is fair. */
static void a_stream_that_was_not_emptied_is_named_again(void)
{
    allm_engine *e = engine_for(2, "[['text','a']]", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *a = play_call(e), *b = play_call(e), *s;
    char order[32] = "";
    allm_hub_add(hub, a, NULL);
    allm_hub_add(hub, b, NULL);
    while ((s = allm_hub_wait(hub, -1, NULL))) {
        strncat(order, s == a ? "a" : "b", sizeof order - strlen(order) - 1);
        allm_stream_next(s, NULL);
    }
    CHECK_TEXT(order, "ababababab");    /* four events and the end each */
    allm_stream_free(a);
    allm_stream_free(b);
    allm_hub_free(hub);
    allm_engine_free(e);
}

static void a_cancelled_stream_is_named(void)
{
    allm_engine *e = engine_for(1, "[['delay',60000]]", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = play_call(e);
    allm_hub_add(hub, s, NULL);
    while (allm_hub_wait(hub, 0, NULL))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    allm_stream_cancel(s);
    CHECK(allm_hub_wait(hub, -1, NULL) == s);
    CHECK_INT(allm_stream_next(s, NULL), ALLM_OK);
    CHECK(!allm_hub_wait(hub, -1, NULL));
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* ---------------------------------------------------- in a foreign loop --- */

static void a_foreign_loop_watches_one_descriptor(void)
{
    allm_stream *streams[MANY], *s;
    size_t ended = 0;
    bool timely = true;
    allm_engine *e = engine_for(
        MANY, "[['text','a'],['delay',2],['text','b'],['delay',1]]", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    for (size_t i = 0; i < MANY; i++) {
        streams[i] = play_call(e);
        allm_hub_add(hub, streams[i], NULL);
    }
    struct pollfd fd = { .fd = allm_hub_fd(hub), .events = POLLIN };
    while (check_whole() && ended < MANY && timely) {
        /* the descriptor alone: the time is only for a broken test */
        timely = poll(&fd, 1, 20000) == 1;
        while ((s = allm_hub_wait(hub, 0, NULL))) {
            allm_status status;
            while ((status = allm_stream_next(s, NULL)) == ALLM_EVENT)
                ;
            ended += status != ALLM_AGAIN;
        }
    }
    CHECK(timely);
    for (size_t i = 0; i < MANY; i++)
        allm_stream_free(streams[i]);
    CHECK_INT(allm_hub_count(hub), 0);
    allm_hub_free(hub);
    allm_engine_free(e);
}

static void a_ring_makes_the_descriptor_readable(void)
{
    allm_engine *e = engine_for(1, "[['delay',60000]]", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *s = play_call(e);
    struct pollfd fd = { .fd = allm_hub_fd(hub), .events = POLLIN };
    allm_hub_add(hub, s, NULL);
    CHECK_INT(poll(&fd, 1, 0), 1);      /* it was added */
    while (allm_hub_wait(hub, 0, NULL))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    CHECK_INT(poll(&fd, 1, 0), 0);
    int left = allm_hub_timeout(hub);
    CHECK(left > 50000 && left <= 60000);
    allm_stream_cancel(s);
    CHECK_INT(poll(&fd, 1, 0), 1);
    CHECK(allm_hub_wait(hub, 0, NULL) == s);
    CHECK_INT(allm_stream_wait(s), ALLM_OK);
    CHECK(!allm_hub_wait(hub, 0, NULL));
    CHECK_INT(poll(&fd, 1, 0), 0);
    allm_stream_free(s);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* ---------------------------------------------------------------- going --- */

static void streams_outlive_their_hub(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_stream *streams[3];
    allm_engine *e = engine_for(3, "[['delay',60000]]", &clock);
    allm_hub *hub = hub_of(&clock);
    for (int i = 0; i < 3; i++) {
        streams[i] = play_call(e);
        allm_hub_add(hub, streams[i], NULL);
    }
    allm_stream_next(streams[1], NULL);
    allm_stream_cancel(streams[2]);
    allm_hub_free(hub);
    CHECK_INT(allm_fake_released(e), 3);
    for (int i = 0; i < 3; i++) {
        const allm_error *error = allm_stream_error(streams[i]);
        CHECK(error && error->kind == ALLM_ERR_MISUSE);
        CHECK_INT(allm_stream_next(streams[i], NULL), ALLM_ERR_MISUSE);
        CHECK_INT(allm_stream_wait(streams[i]), ALLM_ERR_MISUSE);
        CHECK(streams[i] && !allm_stream_response(streams[i]));
        allm_stream_free(streams[i]);
    }
    CHECK_INT(allm_fake_released(e), 3);
    allm_engine_free(e);
}

static void streams_may_go_in_any_state(void)
{
    struct clock_manual clock = { 0, 0 };
    allm_stream *streams[4], *s = NULL;
    allm_engine *e = engine_for(4, "[['text','a'],['delay',60000]]", &clock);
    allm_hub *hub = hub_of(&clock);
    for (int i = 0; i < 4; i++) {
        streams[i] = play_call(e);
        allm_hub_add(hub, streams[i], NULL);
    }
    s = allm_hub_wait(hub, 0, NULL);
    CHECK(s == streams[0]);
    allm_stream_free(streams[0]);       /* named */
    allm_stream_free(streams[2]);       /* in the middle of the ready ones */
    while ((s = allm_hub_wait(hub, 0, NULL)))
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    allm_stream_cancel(streams[1]);     /* at rest, with a ring under way */
    allm_stream_free(streams[1]);
    CHECK_INT(allm_hub_count(hub), 1);
    CHECK(!allm_hub_wait(hub, 0, NULL));
    allm_stream_free(streams[3]);
    allm_hub_free(hub);
    CHECK_INT(allm_fake_released(e), 4);
    allm_engine_free(e);
}

/* A late cancel wakes the hub for a stream that is almost freed. */
static void a_late_ring_is_harmless(void)
{
    allm_engine *e = engine_for(2, "[['text','a']]", NULL);
    allm_hub *hub = allm_hub_new(NULL);
    allm_stream *a = play_call(e), *b = play_call(e);
    allm_hub_add(hub, a, NULL);
    allm_hub_add(hub, b, NULL);
    while (allm_stream_next(a, NULL) == ALLM_EVENT)
        ;
    CHECK_INT(allm_hub_count(hub), 1);
    allm_stream_cancel(a);
    allm_stream_free(a);
    CHECK(allm_hub_wait(hub, 0, NULL) == b);
    while (allm_stream_next(b, NULL) == ALLM_EVENT)
        ;
    allm_stream_cancel(b);
    CHECK(!allm_hub_wait(hub, -1, NULL));
    allm_hub_free(hub);
    allm_stream_cancel(b);
    allm_stream_free(b);
    allm_engine_free(e);
}

/* --------------------------------------------------------------- clocks --- */

/* Deadlines and waits near the limits of a clock. */
static void play_at(int64_t start_ns)
{
    struct clock_manual clock = { .now_ns = start_ns };
    allm_engine *e = engine_for(2, "[['text','a'],['delay',5],['text','b']]",
                                &clock);
    allm_hub *hub = hub_of(&clock);
    allm_stream *streams[2];
    for (int i = 0; i < 2; i++) {
        streams[i] = play_call_with(e, ALLM(call_opts, .total_ms = UINT32_MAX,
                                            .silence_ms = 3));
        allm_hub_add(hub, streams[i], NULL);
    }
    for (allm_stream *s; (s = allm_hub_wait(hub, INT32_MAX, NULL));)
        while (allm_stream_next(s, NULL) == ALLM_EVENT)
            ;
    allm_hub_wait(hub, 0, NULL);
    allm_hub_timeout(hub);
    if (start_ns < 0)
        CHECK_TEXT(play_why(streams[0]),
                   "the answer paused for too long; raise silence_ms to wait "
                   "longer");
    for (int i = 0; i < 2; i++)
        allm_stream_free(streams[i]);
    allm_hub_free(hub);
    allm_engine_free(e);
}

/* The sanitizer of undefined behaviour looks on. */
static void clocks_may_stand_near_the_ends_of_their_range(void)
{
    play_at(INT64_MIN);
    play_at(INT64_MIN + 1000000);
    play_at(-1);
    play_at(INT64_MAX - 4000000);
    play_at(INT64_MAX - 1000000000000);
}

/* The bound of the README; make bench measures it for 10,000 streams. */
static void an_idle_stream_is_small(void)
{
    enum { COUNT = 3 };
    const allm_event *event;
    allm_stream *s[COUNT], *named;
    allm_engine *e = engine_for(COUNT, "[['delay', 60000]]", NULL);
    allm_hub *hub = hub_of(NULL);
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < COUNT; i++) {
        size_t before = check_live_bytes();
        s[i] = play_call(e);
        allm_hub_add(hub, s[i], NULL);
        while ((named = allm_hub_wait(hub, 0, NULL)))
            while (allm_stream_next(named, &event) == ALLM_EVENT)
                ;
        size_t taken = check_live_bytes() - before;
        least = taken < least ? taken : least;
    }
    CHECK(least < 1536 + 640);      /* with its script, and its request */
    for (size_t i = 0; i < COUNT; i++)
        allm_stream_free(s[i]);
    allm_hub_free(hub);
    allm_engine_free(e);
}

TESTS = {
    TEST_ONCE(an_idle_stream_is_small),
    TEST(clocks_may_stand_near_the_ends_of_their_range),
    TEST(a_late_ring_is_harmless),
    TEST(nothing_is_accepted_instead_of_a_hub),
    TEST(options_must_have_a_size),
    TEST(streams_are_added_once_and_early),
    TEST(a_missing_stream_is_a_lack_of_memory),
    TEST(a_stream_of_a_freed_hub_finds_no_other),
    TEST(a_hub_that_cannot_wait_says_so),
    TEST(no_stream_is_taken_that_cannot_be_shown),
    TEST(an_empty_hub_does_not_wait),
    TEST(many_streams_end_in_one_thread),
    TEST(deadlines_come_in_their_order),
    TEST(time_runs_out),
    TEST(a_talkative_stream_takes_turns),
    TEST(a_stream_that_was_not_emptied_is_named_again),
    TEST(a_cancelled_stream_is_named),
    TEST(a_foreign_loop_watches_one_descriptor),
    TEST(a_ring_makes_the_descriptor_readable),
    TEST(streams_outlive_their_hub),
    TEST(streams_may_go_in_any_state),
    TESTS_END,
};
