/* clock.h - the current time, replaceable so that no test has to wait */
#pragma once

#include "allm.h"

/* A clock as we keep it: its first two functions are never NULL. */
struct clock {
    int64_t (*now_ns)(void *ud);    /* never goes back; origin unknown */
    int64_t (*unix_ms)(void *ud);   /* since 1970, may jump */
    void *ud;
    /* Virtual clocks jump to that time and return true, or false if they
     * cannot advance.  NULL: time passes by itself. */
    bool (*sleep_until)(void *ud, int64_t ns);
};

struct clock clock_real(void);
struct clock clock_from(const allm_clock *given);   /* NULL: real */
int64_t clock_now_ns(struct clock c);
int64_t clock_unix_ms(struct clock c);
bool clock_is(struct clock a, struct clock b);      /* the same clock? */

/*
 * The times of a clock may have any value, so sums and differences saturate: a
 * distant deadline is INT64_MAX, which means never.
 */
int64_t clock_add(int64_t ns, int64_t more_ns);
int64_t clock_after(int64_t ns, int64_t ms);
int64_t clock_between(int64_t from_ns, int64_t to_ns);  /* to - from */

/* A clock that tests advance, and that advances when a caller would wait. */
struct clock_manual {
    int64_t now_ns;
    int64_t unix_ms;
};
struct clock clock_of_manual(struct clock_manual *m);
void clock_advance(struct clock_manual *m, int64_t ms);
