/* child.h - start a process through a warden, with pipes */
#pragma once

#include "base/arena.h"

#include <sys/types.h>

enum child_stdio {
    CHILD_PIPES,                /* in, out and err are pipes */
    CHILD_MERGED,               /* out and err are one pipe */
    CHILD_NO_INPUT,             /* in is /dev/null, the others are pipes */
    CHILD_OURS                  /* 0, 1, 2 are the caller's */
};

/*
 * Our ends of the pipes; -1: there is none, or it is closed.  All are
 * non-blocking and closed by exec.
 */
struct child {
    pid_t warden;
    int in, out, err;
    int control;                /* closing it kills the process */
    int report;                 /* lines of the warden; see report.h */
};

/*
 * Start it: argv[0] is the path of the program.  orders are lines without the
 * last one, "--".  The cost does not depend on the size of our process.
 * Returns 0 or an errno; *c is then empty.
 */
int child_start(struct child *c, const char *warden, const char *const *argv,
                struct slice orders, enum child_stdio stdio);

/* Ask the process to end (SIGTERM); kill it and its descendants.  If it has not
 * ended after a while, kill it again: it may have stopped its warden. */
void child_term(const struct child *c);
void child_kill(const struct child *c);

void child_close(int *fd);      /* and set it to -1 */

/* Close everything, which kills it if it still runs, and reap the warden, whose
 * end is awaited. */
void child_release(struct child *c);
