/*
 * poll.c - wait for descriptors, and for one deadline
 *
 *      poll_wait --> p->ready[next .. count) --> poll_next
 *                        ^
 *                    poll_remove deletes a tag, so that poll_next() does not
 *                    return the tag of an owner that is gone
 *
 * The poll_sys functions hide what differs between systems.
 */
#include "loop/poll.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000 };

int poll_init(struct poll *p)
{
    *p = (struct poll){ .fd = -1, .timer_fd = -1, .due_ns = POLL_NEVER };
    p->pid = (int)getpid();
    return poll_sys_open(p);
}

static bool is_ours(const struct poll *p)
{
    return p->pid == (int)getpid();
}

void poll_release(struct poll *p)
{
    poll_sys_close(p);
    *p = (struct poll){ .fd = -1, .timer_fd = -1, .due_ns = POLL_NEVER };
}

int poll_fd(const struct poll *p)
{
    return p->fd;
}

int poll_add(struct poll *p, int fd, unsigned what, void *tag)
{
    return poll_sys_change(p, POLL_ADD, fd, what, tag);
}

int poll_modify(struct poll *p, int fd, unsigned what, void *tag)
{
    return poll_sys_change(p, POLL_MODIFY, fd, what, tag);
}

/* This may also delete another member with the same tag; it is still ready, so
 * the next wait finds it again. */
void poll_remove(struct poll *p, int fd, const void *tag)
{
    size_t kept = p->next;
    for (size_t i = p->next; i < p->count; i++)
        if (p->ready[i].tag != tag)
            p->ready[kept++] = p->ready[i];
    p->count = kept;
    if (is_ours(p))
        poll_sys_change(p, POLL_REMOVE, fd, 0, NULL);
}

int poll_set_deadline(struct poll *p, int64_t due_ns)
{
    if (due_ns == p->due_ns || !is_ours(p))
        return 0;
    int error = poll_sys_arm(p, due_ns);
    if (!error)
        p->due_ns = due_ns;
    return error;
}

static int64_t time_after(int64_t ns)
{
    int64_t now = clock_now_ns(clock_real());
    return ns > INT64_MAX - now ? POLL_NEVER : now + ns;
}

/* Milliseconds from now to `end`, rounded up, at most INT_MAX. */
static int ms_until(int64_t end)
{
    int64_t now = clock_now_ns(clock_real());
    if (end <= now)
        return 0;
    int64_t ms = (end - now - 1) / NS_PER_MS + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* Wait until the time `end`; signals do not end the wait. */
static int wait_until(struct poll *p, int64_t end)
{
    for (;;) {
        bool woken = false;
        int ms = end == POLL_NEVER ? -1 : ms_until(end);
        int error = poll_sys_wait(p, ms, &woken);
        if (error && error != EINTR)
            return error;
        if (woken || (!error && ms == 0))
            return 0;
    }
}

/* Check without waiting, and without reading the clock. */
static int check_now(struct poll *p)
{
    bool woken;
    int error;
    do {
        error = poll_sys_wait(p, 0, &woken);
    } while (error == EINTR);
    return error;
}

int poll_wait(struct poll *p, int64_t timeout_ns)
{
    if (p->next < p->count)
        return 0;
    if (timeout_ns == 0)
        return check_now(p);
    return wait_until(p, timeout_ns < 0 ? POLL_NEVER : time_after(timeout_ns));
}

bool poll_next(struct poll *p, struct poll_ready *out)
{
    if (p->next == p->count)
        return false;
    *out = p->ready[p->next++];
    return true;
}
