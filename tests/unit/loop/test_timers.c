/* test_timers.c - deadlines expire in order, however they are set and moved */
#include "loop/timers.h"

#include "harness/check.h"

static struct timers fresh(void)
{
    struct timers t;
    timers_init(&t, mem_default());
    return t;
}

static void the_earliest_comes_first(void)
{
    struct timers t = fresh();
    struct timer a = { 0 }, b = { 0 }, c = { 0 };
    int64_t due = -1;
    CHECK_ALWAYS(!timers_next(&t, &due));
    CHECK_ALWAYS(!timers_pop(&t, INT64_MAX));
    if (timers_set(&t, &b, 20) && timers_set(&t, &c, 30) &&
        timers_set(&t, &a, 10)) {
        CHECK_ALWAYS(timers_next(&t, &due) && due == 10);
        CHECK_ALWAYS(!timers_pop(&t, 9));
        CHECK_ALWAYS(timers_pop(&t, 10) == &a);
        CHECK_ALWAYS(!timer_is_set(&a) && timer_is_set(&b));
        CHECK_ALWAYS(!timers_pop(&t, 10));
        CHECK_ALWAYS(timers_pop(&t, 99) == &b);
        CHECK_ALWAYS(timers_pop(&t, 99) == &c);
        CHECK_ALWAYS(!timers_pop(&t, INT64_MAX));
    }
    timers_release(&t);
}

static void those_due_at_once_come_as_they_were_set(void)
{
    enum { N = 50 };
    struct timers t = fresh();
    struct timer all[N] = { { 0 } };
    bool set = timers_reserve(&t, N);
    for (size_t i = 0; set && i < N; i++)
        CHECK_ALWAYS(timers_set(&t, &all[i], 7));
    for (size_t i = 0; set && i < N; i += 10)   /* moved: the last again */
        timers_set(&t, &all[i], 7);
    for (size_t i = 0; set && i < N; i++)
        if (i % 10)
            CHECK_ALWAYS(timers_pop(&t, 7) == &all[i]);
    for (size_t i = 0; set && i < N; i += 10)
        CHECK_ALWAYS(timers_pop(&t, 7) == &all[i]);
    timers_release(&t);
}

static void a_timer_moves_both_ways(void)
{
    struct timers t = fresh();
    struct timer all[10] = { { 0 } };
    bool set = timers_reserve(&t, 10);
    for (int i = 0; set && i < 10; i++)
        timers_set(&t, &all[i], i * 10);
    if (set) {
        timers_set(&t, &all[0], 95);
        timers_set(&t, &all[8], -5);
        CHECK_ALWAYS(timers_pop(&t, 99) == &all[8]);
        for (int i = 1; i < 10; i++)
            if (i != 8)
                CHECK_ALWAYS(timers_pop(&t, 99) == &all[i]);
        CHECK_ALWAYS(timers_pop(&t, 99) == &all[0]);
    }
    timers_release(&t);
}

static void a_cancelled_one_never_comes(void)
{
    struct timers t = fresh();
    struct timer a = { 0 }, b = { 0 };
    timers_cancel(&t, &a);              /* not set: nothing happens */
    if (timers_set(&t, &a, 1) && timers_set(&t, &b, 2)) {
        timers_cancel(&t, &a);
        timers_cancel(&t, &a);
        CHECK_ALWAYS(!timer_is_set(&a));
        CHECK_ALWAYS(timers_pop(&t, 9) == &b);
        CHECK_ALWAYS(!timers_pop(&t, 9));
        CHECK_ALWAYS(timers_set(&t, &a, 3));
        CHECK_ALWAYS(timers_pop(&t, 9) == &a);
    }
    timers_release(&t);
}

static void the_ends_of_time_are_times(void)
{
    struct timers t = fresh();
    struct timer first = { 0 }, last = { 0 };
    if (timers_set(&t, &last, INT64_MAX) && timers_set(&t, &first, INT64_MIN)) {
        CHECK_ALWAYS(timers_pop(&t, INT64_MIN) == &first);
        CHECK_ALWAYS(!timers_pop(&t, INT64_MAX - 1));
        CHECK_ALWAYS(timers_pop(&t, INT64_MAX) == &last);
    }
    timers_release(&t);
}

static void release_unsets_what_is_left(void)
{
    struct timers t = fresh();
    struct timer a = { 0 }, b = { 0 };
    timers_set(&t, &a, 1);
    timers_set(&t, &b, 2);
    timers_release(&t);
    CHECK_ALWAYS(!timer_is_set(&a) && !timer_is_set(&b));
    timers_release(&t);
}

static void with_room_setting_cannot_fail(void)
{
    enum { N = 100 };
    struct timers t = fresh();
    struct timer all[N] = { { 0 } };
    if (timers_reserve(&t, N)) {
        size_t before = check_allocations();
        for (int i = 0; i < N; i++)
            CHECK_ALWAYS(timers_set(&t, &all[i], -i));
        CHECK_ALWAYS(check_allocations() == before);
    }
    CHECK_ALWAYS(!timers_reserve(&t, SIZE_MAX));
    CHECK_ALWAYS(!timers_reserve(&t, SIZE_MAX / 8));
    timers_release(&t);
}

/* One that could not be set is not set; the others do not suffer. */
static void without_memory_nothing_changes(void)
{
    struct timers t = fresh();
    struct timer all[40] = { { 0 } };
    int set = 0;
    for (int i = 0; i < 40; i++) {
        bool ok = timers_set(&t, &all[i], i);
        CHECK(ok);
        CHECK_ALWAYS(ok == timer_is_set(&all[i]));
        set += ok;
    }
    for (int i = 0; i < 40; i++)
        if (timer_is_set(&all[i]))
            CHECK_ALWAYS(timers_set(&t, &all[i], 100 - i));
    for (int64_t last = 0; set > 0; set--) {
        struct timer *next = timers_pop(&t, INT64_MAX);
        CHECK_ALWAYS(next && next->due_ns > last);
        last = next ? next->due_ns : last;
    }
    CHECK_ALWAYS(!timers_pop(&t, INT64_MAX));
    timers_release(&t);
}

static void ten_thousand_are_cheap(void)
{
    enum { N = 10000 };
    static struct timer all[N];
    struct timers t = fresh();
    struct random r = check_random();
    for (int i = 0; i < N; i++)
        CHECK(timers_set(&t, &all[i], (int64_t)random_below(r, 1000000)));
    CHECK(check_allocations() <= 12);
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < N; i++)     /* as each byte moves a deadline */
            timers_set(&t, &all[i], round + (int64_t)random_below(r, 9999));
    for (int i = 0; i < N; i += 2)
        timers_cancel(&t, &all[i]);
    int64_t last = INT64_MIN;
    int count = 0;
    for (struct timer *x; (x = timers_pop(&t, INT64_MAX)); count++) {
        CHECK(x->due_ns >= last);
        last = x->due_ns;
    }
    CHECK_INT(count, N / 2);
    timers_release(&t);
}

/* The one of all[] that should come next, found by looking at each. */
static struct timer *first_of(struct timer *all, size_t count)
{
    struct timer *first = NULL;
    for (size_t i = 0; i < count; i++) {
        struct timer *x = &all[i];
        if (!timer_is_set(x))
            continue;
        if (!first || x->due_ns < first->due_ns ||
            (x->due_ns == first->due_ns && x->order < first->order))
            first = x;
    }
    return first;
}

static void equals_a_model(void)
{
    enum { N = 60 };
    struct timer all[N] = { { 0 } };
    struct timers t = fresh();
    struct random r = check_random();
    for (int i = 0; i < 50000; i++) {
        struct timer *x = &all[random_below(r, N)];
        uint64_t what = random_below(r, 10);
        struct timer *first = first_of(all, N);
        if (what < 5)
            timers_set(&t, x, (int64_t)random_below(r, 40));
        else if (what < 7)
            timers_cancel(&t, x);
        else if (!CHECK(timers_pop(&t, 20) ==
                        (first && first->due_ns <= 20 ? first : NULL)))
            break;
        int64_t due = 0;
        first = first_of(all, N);
        CHECK(timers_next(&t, &due) == (first != NULL));
        CHECK(!first || due == first->due_ns);
    }
    timers_release(&t);
}

TESTS = {
    TEST(the_earliest_comes_first),
    TEST(those_due_at_once_come_as_they_were_set),
    TEST(a_timer_moves_both_ways),
    TEST(a_cancelled_one_never_comes),
    TEST(the_ends_of_time_are_times),
    TEST(release_unsets_what_is_left),
    TEST(with_room_setting_cannot_fail),
    TEST(without_memory_nothing_changes),
    TEST_ONCE(ten_thousand_are_cheap),
    TEST_ONCE(equals_a_model),
    TESTS_END
};
