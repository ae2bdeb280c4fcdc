/*
 * measure.h - clocks, medians and rows of the benchmarks
 *
 * All functions are inline, so a program may use only some of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int64_t measure_clock(clockid_t clock)
{
    struct timespec t = { 0 };
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t measure_now(void)
{
    return measure_clock(CLOCK_MONOTONIC);
}

/* CPU time of this thread, so that other load on the machine does not count. */
static inline int64_t measure_thread(void)
{
    return measure_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* CPU time of the process, including its worker threads. */
static inline int64_t measure_process(void)
{
    return measure_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int measure_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median; sorts the numbers. */
static inline int64_t measure_median(int64_t *times, size_t n)
{
    qsort(times, n, sizeof *times, measure_order);
    return times[n / 2];
}

static inline const char *measure_verdict(bool met)
{
    return met ? "met" : "missed";
}

/* Is this row one of the program's arguments?  Without any, all rows are. */
static inline bool measure_chosen(const char *row, int argc, char **argv)
{
    bool found = argc < 2;
    for (int i = 1; i < argc; i++)
        found = found || !strcmp(argv[i], row);
    return found;
}
