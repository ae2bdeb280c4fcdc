/* poll.h - wait for descriptors, and for one deadline */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A set of descriptors that is itself one descriptor: poll_fd() is readable
 * when a member is ready or the deadline has passed, so a foreign loop watches
 * nothing else.  The set is level-triggered, and used by one thread at a time.
 *
 * Fork: parent and child share the set.  A child may free what it has a copy
 * of: poll_remove(), poll_set_deadline() and poll_release() leave the parent's
 * set as it is there.  It may call nothing else, except exec (which closes all
 * descriptors).
 *
 * Functions that return an int return 0 or an errno.
 */
enum {
    POLL_READ = 1,
    POLL_WRITE = 2,
    POLL_ERROR = 4              /* always watched: an error or hang-up */
};
enum { POLL_BATCH = 32 };
#define POLL_NEVER INT64_MAX

struct poll_ready {
    void *tag;
    unsigned what;              /* at least one of POLL_* */
};

/*
 * The tags of a set whose members belong to several owners: the first member of
 * the owner's struct.  The caller of poll_next() calls ready() of the tag.
 */
struct poll_handler {
    void (*ready)(struct poll_handler *self, unsigned what);
};

struct poll {
    int fd;
    int timer_fd;               /* -1: not made yet, or not needed */
    int pid;                    /* the process that made the set */
    int64_t due_ns;
    size_t next, count;         /* in ready: what poll_next() returns next */
    struct poll_ready ready[POLL_BATCH];
};

/* After a failure only poll_release() may be called; it need not be. */
int poll_init(struct poll *p);
void poll_release(struct poll *p);
int poll_fd(const struct poll *p);

/* Watch a descriptor.  EEXIST: it is watched; EPERM: it is a file, which is
 * always ready. */
int poll_add(struct poll *p, int fd, unsigned what, void *tag);
int poll_modify(struct poll *p, int fd, unsigned what, void *tag);

/* Call it before fd is closed.  poll_next() does not return the tag afterwards,
 * even if it was ready. */
void poll_remove(struct poll *p, int fd, const void *tag);

/*
 * When poll_fd() becomes readable although no member is ready: a time of
 * clock_real(), or POLL_NEVER.  After a deadline has passed, poll_wait()
 * returns at once until another one is set.
 */
int poll_set_deadline(struct poll *p, int64_t due_ns);

/*
 * Wait until a member is ready, or the deadline or the timeout (negative: none)
 * has passed.  Signals do not end the wait.  Timeouts are rounded up to
 * milliseconds; the deadline is exact.  poll_next() then returns what is ready.
 */
int poll_wait(struct poll *p, int64_t timeout_ns);

/* The next member that is ready; false: there are no more. */
bool poll_next(struct poll *p, struct poll_ready *out);

/* --------------------------------------- what poll.c needs of a system --- */

/* Implemented by one file for each system, such as poll_epoll.c.  Only poll.c
 * calls them. */
enum poll_change { POLL_ADD, POLL_MODIFY, POLL_REMOVE };

int poll_sys_open(struct poll *p);
void poll_sys_close(struct poll *p);
int poll_sys_change(struct poll *p, enum poll_change change, int fd,
                    unsigned what, void *tag);
int poll_sys_arm(struct poll *p, int64_t due_ns);

/* Wait (ms negative: without a limit) and fill p->ready.  *woken: a member is
 * ready or the deadline has passed.  EINTR after a signal. */
int poll_sys_wait(struct poll *p, int ms, bool *woken);
