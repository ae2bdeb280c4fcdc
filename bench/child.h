/*
 * child.h - run other programs, and what they cost
 *
 * All functions are inline, so a program may use only some of them.
 */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct cost {
    int64_t ns; /* CPU time */
    long kib;   /* peak */
};

static char child_variable[4200]; /* of the next program; "" is none */

/* Run a program with its output redirected to this descriptor; -1: nowhere. */
static inline pid_t child_start(const char **argv, int out)
{
    char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
    char *clean[] = { path, *child_variable ? child_variable : NULL, NULL };
    union {
        const char **given;
        char **taken; /* the type that execve() wants; it changes none */
    } words = { argv };
    pid_t child = fork();
    if (child)
        return child;
    int null = open("/dev/null", O_RDWR);
    dup2(null, STDIN_FILENO);
    dup2(null, STDERR_FILENO);
    dup2(out < 0 ? null : out, STDOUT_FILENO);
    execve(argv[0], words.taken, clean);
    _exit(127);
}

/* Wait for its end; the cost of all its time. */
static inline struct cost child_wait(pid_t child, int *status)
{
    struct rusage use = { 0 };
    if (child < 0 || wait4(child, status, 0, &use) != child)
        *status = -1;
    int64_t us = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                 use.ru_utime.tv_usec + use.ru_stime.tv_usec;
    return (struct cost){ us * 1000, use.ru_maxrss };
}

/* Run a program to its end, which must be a good one. */
static inline struct cost child_run(const char **argv)
{
    int status = 0;
    struct cost c = child_wait(child_start(argv, -1), &status);
    if (status) {
        printf("%s %s failed: %d\n", argv[0], argv[1], status);
        exit(1);
    }
    return c;
}
