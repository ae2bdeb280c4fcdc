/*
 * client.h - what the clients in C share
 *
 * usage: CLIENT WORKLOAD BASE N, where BASE is the URL before "/v1".
 *
 *   one, many, args   N requests, one after the other
 *   history           N requests; the first one has 1,000 messages of 400
 *                     bytes, and each later one has one more
 *   tools             N loops of three turns; two of them call a tool
 *   paced             N streams at the same time
 *   hold              N streams are opened and stay open
 *   start             one request; "first" is printed at the first text
 *
 * A client first runs a fifth of its work as a warm-up, which does not count.
 * It prints {"events", "cpu_us"}: the deltas that it received, and the CPU time
 * of the whole process since the warm-up.  "hold" opens a stream, so that what
 * a process needs once does not count, prints "base", reads a line, opens the
 * streams one after the other, prints "held" and reads a line.  Its memory is
 * measured from outside.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { HISTORY = 1000, MESSAGE = 400 };

static inline int64_t client_cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
           u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

static inline void client_report(size_t events, int64_t began)
{
    printf("{\"events\": %zu, \"cpu_us\": %lld}\n", events,
           (long long)(client_cpu_us() - began));
}

/* Prints a line and waits for one. */
static inline void client_meet(const char *line)
{
    char room[16];
    puts(line);
    fflush(stdout);
    if (!fgets(room, sizeof room, stdin))
        exit(1);
}

static inline void client_fail(const char *why)
{
    fprintf(stderr, "failed: %s\n", why);
    exit(1);
}

/* A message of the history: 400 bytes of prose. */
static inline const char *client_prose(void)
{
    static char text[MESSAGE + 1];
    static const char prose[] = "The gardener said: plant them in autumn, "
                                "before the first frost, as deep as a hand. ";
    for (size_t i = 0; i < MESSAGE; i++)
        text[i] = prose[i % (sizeof prose - 1)];
    return text;
}

/* How many open files a process may have. */
static inline void client_allow_files(void)
{
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
}
