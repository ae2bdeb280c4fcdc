/*
 * clock.c - the current time, replaceable so that no test has to wait
 *
 * The real clock replaces the functions that a caller's clock leaves out, and
 * those beyond the size of the caller's struct.
 */
#include "base/clock.h"

#include "base/caller_struct.h"
#include "base/mem.h"

#include <time.h>

static int64_t real_now_ns(void *ud)
{
    (void)ud;
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t real_unix_ms(void *ud)
{
    (void)ud;
    struct timespec t = { 0 };
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t manual_now_ns(void *ud)
{
    const struct clock_manual *m = ud;
    return m->now_ns;
}

static int64_t manual_unix_ms(void *ud)
{
    const struct clock_manual *m = ud;
    return m->unix_ms;
}

static bool manual_sleep_until(void *ud, int64_t ns)
{
    struct clock_manual *m = ud;
    if (ns <= m->now_ns)
        return true;
    m->unix_ms += clock_between(m->now_ns, ns) / 1000000;
    m->now_ns = ns;
    return true;
}

struct clock clock_real(void)
{
    return (struct clock){ real_now_ns, real_unix_ms, NULL, NULL };
}

struct clock clock_from(const allm_clock *given)
{
    struct clock c = clock_real();
    allm_clock mine;
    if (!given || !caller_struct_take(&mine, sizeof mine, given) ||
        !MEM_REACHES(given, ud))
        return c;
    c.ud = mine.ud;             /* the real functions ignore it */
    if (mine.now_ns)
        c.now_ns = mine.now_ns;
    if (mine.unix_ms)
        c.unix_ms = mine.unix_ms;
    if (mine.now_ns && MEM_REACHES(given, sleep_until))
        c.sleep_until = mine.sleep_until;
    return c;
}

int64_t clock_now_ns(struct clock c)
{
    return c.now_ns(c.ud);
}

int64_t clock_unix_ms(struct clock c)
{
    return c.unix_ms(c.ud);
}

bool clock_is(struct clock a, struct clock b)
{
    return a.now_ns == b.now_ns && a.ud == b.ud;
}

int64_t clock_add(int64_t ns, int64_t more_ns)
{
    if (more_ns > 0 && ns > INT64_MAX - more_ns)
        return INT64_MAX;
    if (more_ns < 0 && ns < INT64_MIN - more_ns)
        return INT64_MIN;
    return ns + more_ns;
}

int64_t clock_after(int64_t ns, int64_t ms)
{
    const int64_t most = INT64_MAX / 1000000;
    return ms > most ? INT64_MAX
                     : clock_add(ns, (ms < -most ? -most : ms) * 1000000);
}

int64_t clock_between(int64_t from_ns, int64_t to_ns)
{
    return from_ns == INT64_MIN ? clock_add(clock_add(to_ns, 1), INT64_MAX)
                                : clock_add(to_ns, -from_ns);
}

struct clock clock_of_manual(struct clock_manual *m)
{
    return (struct clock){ manual_now_ns, manual_unix_ms, m,
                           manual_sleep_until };
}

void clock_advance(struct clock_manual *m, int64_t ms)
{
    m->now_ns = clock_after(m->now_ns, ms);
    m->unix_ms += ms;
}
