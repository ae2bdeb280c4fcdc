/* test_pacer.c - when requests may be sent, on a clock of the test's own */
#include "engine/pacer.h"

#include "harness/noun.h"

#include <stdio.h>
#include <string.h>

#define MS INT64_C(1000000)

enum { MANY = 64 };

static const allm_error refused = { .size = sizeof refused,
                                    .kind = ALLM_ERR_ADAPTER,
                                    .reason = "rate_limited",
                                    .http_status = ALLM_NUM(429) };
static const allm_error failed = { .size = sizeof failed,
                                   .kind = ALLM_ERR_ADAPTER,
                                   .reason = "timeout" };

struct road {
    allm_pacer *pacer;
    struct pacer_ticket ticket[MANY];
    int64_t now, again;
};

static size_t rings;

static void count_ring(allm_waker *w)
{
    (void)w;
    rings++;
}

static bool bind_ticket(struct road *r, size_t i, const char *key)
{
    r->ticket[i].ring = count_ring;
    return pacer_bind(&r->ticket[i], r->pacer, "openai", slice_of(key), "gpt");
}

/* False: no memory. */
static bool begin_road(struct road *r, const allm_pacer_opts *opts)
{
    bool ok = true;
    rings = 0;
    *r = (struct road){ .pacer = allm_pacer_new(opts), .now = 5000 * MS };
    CHECK(!allm_pacer_error(r->pacer));
    for (size_t i = 0; r->pacer && i < MANY; i++)
        ok &= bind_ticket(r, i, "key");
    return r->pacer && ok;
}

static void end_road(struct road *r)
{
    for (size_t i = 0; i < MANY; i++)
        pacer_release(&r->ticket[i]);
    allm_pacer_free(r->pacer);
}

static bool ask(struct road *r, size_t i)
{
    r->again = -1;
    return pacer_ask(&r->ticket[i], r->now, &r->again);
}

static void answer(struct road *r, size_t i, const allm_error *error)
{
    pacer_done(&r->ticket[i], error, 0, r->now);
}

/* How many of the tickets from `first` on may go now? */
static size_t count_going(struct road *r, size_t first)
{
    size_t n = 0;
    for (size_t i = first; i < MANY; i++)
        n += ask(r, i);
    return n;
}

/* -------------------------------------------------------------- limits --- */

static void nothing_is_limited_at_first(void)
{
    struct road r;
    struct pacer_ticket none = { 0 };
    int64_t again;
    if (begin_road(&r, NULL))
        CHECK_INT(count_going(&r, 0), MANY);
    CHECK(pacer_ask(&none, 0, &again));
    pacer_leave(&none);
    pacer_release(&none);
    end_road(&r);
}

static void no_more_than_the_limit_are_in_flight(void)
{
    struct road r;
    if (begin_road(&r, ALLM(pacer_opts, .max_in_flight = 2))) {
        CHECK_INT(count_going(&r, 0), 2);
        CHECK(!ask(&r, 2)); /* the first one that waits */
        CHECK_INT(r.again, INT64_MAX);
        answer(&r, 0, NULL);
        CHECK_INT(rings, 1);
        CHECK(ask(&r, 2));
        CHECK(!ask(&r, 3));
        pacer_leave(&r.ticket[1]);
        CHECK(ask(&r, 3));
    }
    end_road(&r);
}

static void requests_per_minute_are_spread(void)
{
    struct road r;
    size_t sent = 0;
    if (begin_road(&r, ALLM(pacer_opts, .rpm = 600))) {
        for (; r.now < 7000 * MS; r.now += MS)
            for (size_t i = 0; i < MANY && ask(&r, i); i++) {
                if (r.ticket[i].state == PACER_SENT) {
                    answer(&r, i, NULL);
                    sent++;
                }
                break;
            }
        CHECK(sent >= 19 && sent <= 22); /* ten per second */
    }
    end_road(&r);
}

static void tokens_per_minute_are_counted(void)
{
    struct road r;
    if (begin_road(&r, ALLM(pacer_opts, .tpm = 6000))) {
        CHECK(ask(&r, 0)); /* nobody knows what it costs */
        pacer_done(&r.ticket[0], NULL, 1000, r.now);
        CHECK(!ask(&r, 1)); /* the bucket of 1000 is empty */
        CHECK(r.again > r.now + 9990 * MS && r.again < r.now + 10010 * MS);
        r.now = r.again;
        CHECK(ask(&r, 1));
    }
    end_road(&r);
}

static void providers_have_limits_of_their_own(void)
{
    struct road r = { .pacer = allm_pacer_new(NULL), .now = 1 };
    allm_status set = allm_pacer_limit(r.pacer, "openai", 60, 0);
    allm_pacer_limit(r.pacer, "other", 1, 1);
    if (r.pacer && set == ALLM_OK && bind_ticket(&r, 0, "a") &&
        bind_ticket(&r, 1, "a") && bind_ticket(&r, 2, "b")) {
        CHECK(ask(&r, 0));
        CHECK(!ask(&r, 1));
        CHECK(ask(&r, 2)); /* another key */
    }
    CHECK_INT(allm_pacer_limit(r.pacer, NULL, 1, 1), ALLM_ERR_MISUSE);
    end_road(&r);
}

/* ------------------------------------------------------------ refusals --- */

static void a_refusal_halves_and_cools_down(void)
{
    struct road r;
    if (begin_road(&r, NULL)) {
        for (size_t i = 0; i < 8; i++)
            CHECK(ask(&r, i));
        answer(&r, 0, &refused);
        answer(&r, 1, &refused); /* sent before the first: counts once */
        CHECK(!ask(&r, 8));
        r.now += 999 * MS;
        CHECK(!ask(&r, 8));
        r.now += MS;
        CHECK(!ask(&r, 8)); /* six are in flight, four may be */
        for (size_t i = 2; i < 8; i++)
            answer(&r, i, NULL);
        CHECK_INT(count_going(&r, 8), 5); /* a round of answers: one more */
    }
    end_road(&r);
}

static void the_provider_says_how_long(void)
{
    struct road r;
    allm_error later = refused;
    later.retry_after_ms = (allm_int){ 20000, true };
    if (begin_road(&r, NULL)) {
        CHECK(ask(&r, 0));
        answer(&r, 0, &later);
        CHECK(!ask(&r, 0));
        CHECK_INT(r.again, r.now + 20000 * MS);
        r.now = r.again;
        CHECK(ask(&r, 0));
        answer(&r, 0, &failed); /* another failure changes nothing */
        CHECK(ask(&r, 0));
        later.retry_after_ms.value = INT64_C(100000000);
        answer(&r, 0, &later);
        CHECK(!ask(&r, 0));
        CHECK_INT(r.again, r.now + 60000 * MS); /* at most */
    }
    end_road(&r);
}

static void refusals_in_a_row_wait_longer(void)
{
    struct road r;
    static const int64_t wait[] = { 1, 2, 4, 8, 16, 30, 30 };
    if (begin_road(&r, NULL))
        for (size_t i = 0; i < sizeof wait / sizeof *wait; i++) {
            CHECK(ask(&r, 0));
            answer(&r, 0, &refused);
            CHECK(!ask(&r, 0));
            CHECK_INT(r.again - r.now, wait[i] * 1000 * MS);
            r.now = r.again;
        }
    end_road(&r);
}

/* -------------------------------------------------------------- quotas --- */

static void learn(struct road *r, size_t i, const char *left, const char *reset)
{
    const char *header[] = { "X-RateLimit-Remaining-Requests", left,
                             "x-ratelimit-limit-requests", "10",
                             "x-ratelimit-reset-requests", reset };
    pacer_learn(&r->ticket[i], header, 3, r->now, 0);
}

static void what_is_left_is_learned(void)
{
    struct road r;
    if (begin_road(&r, NULL)) {
        CHECK(ask(&r, 0));
        learn(&r, 0, "3", "2s");
        CHECK_INT(count_going(&r, 1), 3);
        CHECK_INT(r.ticket[4].state, PACER_WAITING);
        ask(&r, 4); /* the first one that waits knows the time */
        CHECK_INT(r.again, r.now + 2000 * MS);
        ask(&r, 5); /* the others look from time to time */
        CHECK_INT(r.again, r.now + 1000 * MS);
        r.now += 2000 * MS;
        CHECK_INT(count_going(&r, 4), 10); /* the whole window */
        for (size_t i = 0; i < MANY; i++)
            answer(&r, i, NULL);
        CHECK_INT(count_going(&r, 14), 1); /* nobody knows: try one */
    }
    end_road(&r);
}

static void requests_without_a_response_are_subtracted(void)
{
    struct road r;
    if (begin_road(&r, NULL)) {
        for (size_t i = 0; i < 5; i++)
            CHECK(ask(&r, i));
        learn(&r, 0, "6", "1s"); /* four more may not be counted yet */
        CHECK_INT(count_going(&r, 5), 2);
        learn(&r, 1, "5", "1s");
        CHECK_INT(count_going(&r, 7), 0);
    }
    end_road(&r);
}

static void tokens_and_dates_are_learned(void)
{
    static const char *const header[] = {
        "anthropic-ratelimit-tokens-remaining", "500",
        "anthropic-ratelimit-tokens-limit", "1000",
        "anthropic-ratelimit-tokens-reset", "1970-01-01T00:01:00Z",
    };
    struct road r;
    if (begin_road(&r, NULL)) {
        CHECK(ask(&r, 0));
        pacer_done(&r.ticket[0], NULL, 400, r.now);
        CHECK(ask(&r, 0));
        pacer_learn(&r.ticket[0], header, 3, r.now, 50000);
        CHECK(ask(&r, 1));
        CHECK(!ask(&r, 2));
        CHECK_INT(r.again, r.now + 10000 * MS);
    }
    end_road(&r);
}

static void a_window_forgets_the_requests_before_it(void)
{
    struct road r;
    if (begin_road(&r, NULL)) {
        for (size_t i = 0; i < 5; i++)
            CHECK(ask(&r, i));
        learn(&r, 0, "0", "1s");
        CHECK(!ask(&r, 5));
        r.now += 1000 * MS;
        CHECK(ask(&r, 5));
        learn(&r, 5, "4", "1s");
        learn(&r, 1, "0", "1ms"); /* of the window before */
        CHECK_INT(count_going(&r, 6), 4);
    }
    end_road(&r);
}

/* A server that allows 100 requests in a second, on the clock of the road. */
struct busy_server {
    int64_t second;
    int left, said[MANY]; /* -1: refused */
    size_t refused, used;
};

static void serve(struct busy_server *s, size_t i, int64_t now)
{
    if (now / (1000 * MS) != s->second)
        s->left = 100;
    s->second = now / (1000 * MS);
    s->said[i] = s->left ? --s->left : -1;
    s->used += s->said[i] >= 0;
    s->refused += s->said[i] < 0;
}

static void read_answer(struct road *r, const struct busy_server *s, size_t i)
{
    char left[16], reset[16];
    int64_t ms = 1000 - r->now / MS % 1000;
    allm_error error = refused;
    error.retry_after_ms = (allm_int){ ms, true };
    snprintf(left, sizeof left, "%d", s->said[i]);
    snprintf(reset, sizeof reset, "%dms", (int)ms);
    if (s->said[i] >= 0)
        learn(r, i, left, reset);
    answer(r, i, s->said[i] < 0 ? &error : NULL);
}

/* One millisecond: each answer is read now or later, in any order. */
static void run_millisecond(struct road *r, struct busy_server *s,
                            uint32_t *dice)
{
    for (size_t n = 0; n < MANY; n++) {
        *dice = *dice * 1664525 + 1013904223;
        size_t i = *dice >> 26;
        if (r->ticket[i].state == PACER_SENT)
            read_answer(r, s, i);
    }
    for (size_t i = 0; i < MANY; i++)
        if (r->ticket[i].state != PACER_SENT && ask(r, i))
            serve(s, i, r->now);
    r->now += MS;
}

static void answers_in_any_order_are_counted(void)
{
    struct road r;
    struct busy_server s = { 0 };
    uint32_t dice = 1;
    if (begin_road(&r, NULL)) {
        for (int ms = 0; ms < 20000; ms++)
            run_millisecond(&r, &s, &dice);
        CHECK(s.used >= 20 * 90);
        CHECK_INT(s.refused, 0);
    }
    end_road(&r);
}

static void odd_headers_mean_nothing(void)
{
    static const char *const odd[][2] = { { "", "1s" },      { "-1", "1s" },
                                          { "1e9", "1s" },   { "0", "" },
                                          { "0", "soon" },   { "x", "x" },
                                          { "99999999999999999999", "1s" } };
    struct road r;
    if (begin_road(&r, NULL)) {
        CHECK(ask(&r, 0));
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
            learn(&r, 0, odd[i][0], odd[i][1]);
        pacer_learn(&r.ticket[0], NULL, 0, r.now, 0);
        CHECK_INT(count_going(&r, 1), MANY - 1);
    }
    end_road(&r);
}

/* --------------------------------------------------------------- lanes --- */

static void a_ticket_that_leaves_wakes_the_next(void)
{
    struct road r;
    if (begin_road(&r, ALLM(pacer_opts, .max_in_flight = 1))) {
        CHECK_INT(count_going(&r, 0), 1);
        pacer_leave(&r.ticket[1]); /* it waited */
        CHECK_INT(rings, 1);
        pacer_release(&r.ticket[0]); /* it was in flight */
        CHECK_INT(rings, 2);
        CHECK(ask(&r, 2));
        CHECK_INT(rings, 3); /* the next one asks, and waits */
    }
    end_road(&r);
}

static void old_lanes_are_forgotten(void)
{
    struct road r = { .pacer = allm_pacer_new(ALLM(pacer_opts, .rpm = 1)) };
    char key[16];
    bool ok = r.pacer != NULL;
    for (int i = 0; ok && i < 3000; i++) {
        snprintf(key, sizeof key, "%d", i);
        ok = bind_ticket(&r, 0, key);
        CHECK(!ok || ask(&r, 0));
        pacer_release(&r.ticket[0]);
        r.ticket[0] = (struct pacer_ticket){ 0 };
    }
    if (ok && bind_ticket(&r, 0, "2999"))
        CHECK(!ask(&r, 0)); /* remembered */
    if (ok && bind_ticket(&r, 1, "0"))
        CHECK(ask(&r, 1)); /* forgotten */
    end_road(&r);
}

static void a_pacer_is_checked_and_shared(void)
{
    allm_pacer_opts newer[2] = { { .size = sizeof newer } };
    newer[1].size = 1; /* a member that this version does not have */
    allm_pacer *p = allm_pacer_new(newer);
    CHECK_INT(allm_pacer_error(p)->kind, p ? ALLM_ERR_MISUSE : ALLM_ERR_NOMEM);
    allm_engine *e =
        allm_engine_new(ALLM(engine_opts, .model = "fake:m", .pacer = p));
    CHECK(!p || allm_engine_error(e));
    allm_engine_free(e);
    CHECK(allm_pacer_keep(p) == p);
    allm_pacer_free(p);
    allm_pacer_free(p);
    CHECK(!allm_pacer_keep(NULL));
    allm_pacer_free(NULL);
    CHECK_INT(allm_pacer_error(NULL)->kind, ALLM_ERR_NOMEM);
    CHECK_INT(allm_pacer_limit(NULL, "x", 1, 1), ALLM_ERR_NOMEM);
}

TESTS = {
    TEST(nothing_is_limited_at_first),
    TEST(no_more_than_the_limit_are_in_flight),
    TEST(requests_per_minute_are_spread),
    TEST(tokens_per_minute_are_counted),
    TEST(providers_have_limits_of_their_own),
    TEST(a_refusal_halves_and_cools_down),
    TEST(the_provider_says_how_long),
    TEST(refusals_in_a_row_wait_longer),
    TEST(what_is_left_is_learned),
    TEST(requests_without_a_response_are_subtracted),
    TEST(tokens_and_dates_are_learned),
    TEST(a_window_forgets_the_requests_before_it),
    TEST_ONCE(answers_in_any_order_are_counted),
    TEST(odd_headers_mean_nothing),
    TEST(a_ticket_that_leaves_wakes_the_next),
    TEST_ONCE(old_lanes_are_forgotten),
    TEST(a_pacer_is_checked_and_shared),
    TESTS_END
};
