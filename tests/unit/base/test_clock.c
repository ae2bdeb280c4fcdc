/* test_clock.c - the real clock, a caller's clock, and the clock of tests */
#include "base/clock.h"

#include "harness/check.h"

static int64_t always_seven(void *ud)
{
    return *(const int64_t *)ud;
}

static void real_time_does_not_go_back(void)
{
    struct clock c = clock_real();
    int64_t last = clock_now_ns(c);
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_now_ns(c);
        CHECK(now >= last);
        last = now;
    }
}

static void real_time_is_after_this_was_written(void)
{
    CHECK(clock_unix_ms(clock_real()) > INT64_C(1700000000000));
    CHECK(clock_unix_ms(clock_real()) < INT64_C(100000000000000));
}

static void takes_the_callers_clock(void)
{
    int64_t seven = 7;
    size_t whole = sizeof(allm_clock);
    const struct {
        const char *why;
        allm_clock given;
        bool now, unix_time;    /* are taken */
    } rows[] = {
        { "both functions",
          { whole, always_seven, always_seven, &seven, NULL },
          true,
          true },
        { "a longer struct, of a later version",
          { whole + 16, always_seven, always_seven, &seven, NULL },
          true,
          true },
        { "only now_ns",
          { whole, always_seven, NULL, &seven, NULL },
          true,
          false },
        { "only unix_ms",
          { whole, NULL, always_seven, &seven, NULL },
          false,
          true },
        { "no function", { whole, NULL, NULL, &seven, NULL }, false, false },
        { "a forgotten size",
          { 0, always_seven, always_seven, &seven, NULL },
          false,
          false },
        { "a size that ends before ud",
          { offsetof(allm_clock, sleep_until) - 1, always_seven, always_seven,
            &seven, NULL },
          false,
          false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct {
            allm_clock known;
            char later[16];
        } given = { rows[i].given, "" };
        struct clock c = clock_from(&given.known);
        CHECK((clock_now_ns(c) == 7) == rows[i].now);
        CHECK((clock_unix_ms(c) == 7) == rows[i].unix_time);
    }
    check_row("none at all");
    struct clock c = clock_from(NULL);
    CHECK(c.now_ns == clock_real().now_ns);
    CHECK(c.unix_ms == clock_real().unix_ms);
}

static void moves_by_hand_only(void)
{
    struct clock_manual m = { .now_ns = 5, .unix_ms = 1000 };
    struct clock c = clock_of_manual(&m);
    CHECK_INT(clock_now_ns(c), 5);
    CHECK_INT(clock_unix_ms(c), 1000);
    clock_advance(&m, 250);
    CHECK_INT(clock_now_ns(c), 250000005);
    CHECK_INT(clock_unix_ms(c), 1250);
    clock_advance(&m, 0);
    CHECK_INT(clock_now_ns(c), 250000005);
    m.unix_ms = 3;              /* that one may jump */
    CHECK_INT(clock_unix_ms(c), 3);
    CHECK_INT(clock_now_ns(c), 250000005);
}

static void sleeping_moves_a_manual_clock(void)
{
    struct clock_manual m = { 1000000, 5 };
    struct clock c = clock_of_manual(&m);
    CHECK(c.sleep_until(c.ud, 4000000));
    CHECK_INT(clock_now_ns(c), 4000000);
    CHECK_INT(clock_unix_ms(c), 8);
    CHECK(c.sleep_until(c.ud, 2000000));        /* never back */
    CHECK_INT(clock_now_ns(c), 4000000);
    CHECK(!clock_real().sleep_until);
}

static bool no_sleep(void *ud, int64_t ns)
{
    (void)ud;
    return ns < 0;
}

static void takes_the_callers_sleep(void)
{
    int64_t seven = 7;
    allm_clock given = { sizeof given, always_seven, always_seven, &seven,
                         no_sleep };
    CHECK(clock_from(&given).sleep_until == no_sleep);
    given.size = offsetof(allm_clock, sleep_until);     /* an older header */
    CHECK(!clock_from(&given).sleep_until);
    CHECK(clock_from(&given).now_ns == always_seven);
    given.size = sizeof given;
    given.now_ns = NULL;        /* real time cannot be moved */
    CHECK(!clock_from(&given).sleep_until);
}

static void times_stop_at_the_ends_of_their_range(void)
{
    const int64_t min = INT64_MIN, max = INT64_MAX;
    CHECK_INT(clock_add(max - 1, 1), max);
    CHECK_INT(clock_add(max, 1), max);
    CHECK_INT(clock_add(min, -1), min);
    CHECK_INT(clock_add(min, max), -1);
    CHECK_INT(clock_after(5, 2), 2000005);
    CHECK_INT(clock_after(min, max), max);
    CHECK_INT(clock_after(max - 1000000, 1), max);
    CHECK_INT(clock_after(max - 1000000, 2), max);
    CHECK_INT(clock_after(0, min), -(max / 1000000) * 1000000);
    CHECK_INT(clock_between(3, 5), 2);
    CHECK_INT(clock_between(5, 3), -2);
    CHECK_INT(clock_between(min, max), max);
    CHECK_INT(clock_between(min, -5), max - 4);
    CHECK_INT(clock_between(min, min), 0);
    CHECK_INT(clock_between(max, min), min);
}

TESTS = {
    TEST(times_stop_at_the_ends_of_their_range),
    TEST(sleeping_moves_a_manual_clock),
    TEST(takes_the_callers_sleep),
    TEST(real_time_does_not_go_back),
    TEST(real_time_is_after_this_was_written),
    TEST(takes_the_callers_clock),
    TEST(moves_by_hand_only),
    TESTS_END
};
