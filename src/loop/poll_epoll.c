/*
 * poll_epoll.c - Linux: epoll, and a timerfd in it for the deadline
 *
 * The timerfd is made when a deadline is first set: a set that no foreign loop
 * watches does not need it.  It is never read; setting another time makes it
 * not readable again (timerfd_create(2)).
 */
#include "loop/poll.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

static char deadline;           /* its address is the tag of the timerfd */

int poll_sys_open(struct poll *p)
{
    p->fd = epoll_create1(EPOLL_CLOEXEC);
    return p->fd < 0 ? errno : 0;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* No member is removed first: after a fork the set belongs to the parent. */
void poll_sys_close(struct poll *p)
{
    close_fd(p->timer_fd);
    close_fd(p->fd);
}

static uint32_t events_of(unsigned what)
{
    return (what & POLL_READ ? (uint32_t)EPOLLIN : 0) |
           (what & POLL_WRITE ? (uint32_t)EPOLLOUT : 0);
}

/* After a hang-up there is something to read: at least the end. */
static unsigned what_of(uint32_t events)
{
    return (events & (EPOLLIN | EPOLLHUP) ? POLL_READ : 0u) |
           (events & EPOLLOUT ? POLL_WRITE : 0u) |
           (events & (EPOLLERR | EPOLLHUP) ? POLL_ERROR : 0u);
}

int poll_sys_change(struct poll *p, enum poll_change change, int fd,
                    unsigned what, void *tag)
{
    static const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
    struct epoll_event event = { events_of(what), { .ptr = tag } };
    return epoll_ctl(p->fd, ops[change], fd, &event) < 0 ? errno : 0;
}

static int add_timer(struct poll *p)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (fd < 0)
        return errno;
    int error = poll_sys_change(p, POLL_ADD, fd, POLL_READ, &deadline);
    if (error)
        close(fd);
    else
        p->timer_fd = fd;
    return error;
}

int poll_sys_arm(struct poll *p, int64_t due_ns)
{
    struct itimerspec at = { { 0, 0 }, { 0, 0 } };      /* zero: never */
    if (p->timer_fd < 0) {
        int error = add_timer(p);
        if (error)
            return error;
    }
    if (due_ns <= 0)
        due_ns = 1;             /* in the past */
    if (due_ns != POLL_NEVER) {
        at.it_value.tv_sec = (time_t)(due_ns / NS_PER_S);
        at.it_value.tv_nsec = (long)(due_ns % NS_PER_S);
    }
    return timerfd_settime(p->timer_fd, TFD_TIMER_ABSTIME, &at, NULL) < 0
               ? errno
               : 0;
}

int poll_sys_wait(struct poll *p, int ms, bool *woken)
{
    struct epoll_event events[POLL_BATCH];
    p->next = p->count = 0;
    int n = epoll_wait(p->fd, events, POLL_BATCH, ms);
    if (n < 0)
        return errno;
    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr == &deadline)
            continue;
        p->ready[p->count++] = (struct poll_ready){
            events[i].data.ptr,
            what_of(events[i].events),
        };
    }
    *woken = n > 0;
    return 0;
}
