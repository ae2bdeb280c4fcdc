/* poll.h - wait for descriptors, and for one deadline */
#ifndef LOOP_POLL_H
#define LOOP_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A set of descriptors, itself one descriptor: poll_fd() is readable when a
 * member is ready or the deadline has come, so that a foreign loop needs to
 * watch nothing else.  Readiness is told as long as it lasts (level, not
 * edge); a set serves one thread at a time.
 *
 * Fork: parent and child share the set, and what one adds or removes is so for
 * the other, too.  A child may do nothing with it but poll_release(), or exec
 * (all descriptors are closed then).
 *
 * Functions that return an int give 0 or an errno.
 */
enum {
    POLL_READ = 1,
    POLL_WRITE = 2,
    POLL_ERROR = 4              /* always watched: an error or a hang-up */
};
enum { POLL_BATCH = 32 };
#define POLL_NEVER INT64_MAX

struct poll_ready {
    void *tag;
    unsigned what;              /* at least one of POLL_* */
};

/*
 * What the tags of a set are when its members belong to several owners: the
 * first member of whatever stands for the descriptor.  Whoever takes the tag
 * from poll_next() calls ready(), with what is ready.
 */
struct poll_handler {
    void (*ready)(struct poll_handler *self, unsigned what);
};

struct poll {
    int fd;
    int timer_fd;               /* -1: none yet, or the system needs none */
    int64_t due_ns;
    size_t next, count;         /* in ready: what poll_next() will give */
    struct poll_ready ready[POLL_BATCH];
};

/* After a failure only poll_release() may follow, and need not. */
int poll_init(struct poll *p);
void poll_release(struct poll *p);
int poll_fd(const struct poll *p);

/* Watch a descriptor.  EEXIST: it is watched; EPERM: it is a file, which is
 * always ready. */
int poll_add(struct poll *p, int fd, unsigned what, void *tag);
int poll_modify(struct poll *p, int fd, unsigned what, void *tag);

/* Before fd is closed.  The tag is not given by poll_next() afterwards, even
 * if it was ready. */
void poll_remove(struct poll *p, int fd, const void *tag);

/*
 * When poll_fd() must become readable although no member is ready: a time of
 * clock_real(), or POLL_NEVER.  A deadline that has come stays so, and nobody
 * waits, until another one is set.
 */
int poll_set_deadline(struct poll *p, int64_t due_ns);

/*
 * Wait until a member is ready, the deadline or the timeout (negative: none)
 * is over.  Signals do not end it.  Timeouts are rounded up to milliseconds;
 * the deadline is exact.  Then take what is ready with poll_next().
 */
int poll_wait(struct poll *p, int64_t timeout_ns);

/* One that is ready; false when there is no more. */
bool poll_next(struct poll *p, struct poll_ready *out);

/* ------------------------------------- what poll.c asks of the system --- */

/* One file for each system, poll_epoll.c and its like; for poll.c alone. */
enum poll_change { POLL_ADD, POLL_MODIFY, POLL_REMOVE };

int poll_sys_open(struct poll *p);
void poll_sys_close(struct poll *p);
int poll_sys_change(struct poll *p, enum poll_change change, int fd,
                    unsigned what, void *tag);
int poll_sys_arm(struct poll *p, int64_t due_ns);

/* Wait (ms negative: for ever) and fill p->ready.  *woken: something was ready
 * or the deadline has come.  EINTR after a signal. */
int poll_sys_wait(struct poll *p, int ms, bool *woken);

#endif
