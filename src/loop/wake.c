/*
 * wake.c - rouse the loop's thread out of its wait: an eventfd and a flag
 *
 * The flag says that a ring is on its way, so that others need not write.
 *
 *      ring:   exchange the flag for true; if it was false, write
 *      clear:  read; then exchange the flag for false
 *
 * In this order a ring that clear() has swallowed without reading its write
 * comes with a later wake-up for nothing, and never the other way round: once
 * the flag is false every ring writes, and no read follows but that of the
 * next clear().  The exchange makes clear() see what was written before each
 * ring that it swallowed.
 */
#include "loop/wake.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler may ring");

int wake_init(struct wake *w)
{
    atomic_init(&w->rung, false);
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return w->fd < 0 ? errno : 0;
}

void wake_release(struct wake *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

int wake_fd(const struct wake *w)
{
    return w->fd;
}

/* A write can only fail when the count is full; then the descriptor is
 * readable, which is all we want. */
void wake_ring(struct wake *w)
{
    if (atomic_exchange_explicit(&w->rung, true, memory_order_acq_rel))
        return;
    int saved = errno;
    uint64_t one = 1;
    ssize_t n;
    do {
        n = write(w->fd, &one, sizeof one);
    } while (n < 0 && errno == EINTR);
    errno = saved;
}

bool wake_rung(const struct wake *w)
{
    return atomic_load_explicit(&w->rung, memory_order_acquire);
}

void wake_clear(struct wake *w)
{
    uint64_t count;
    ssize_t n;
    do {
        n = read(w->fd, &count, sizeof count);
    } while (n < 0 && errno == EINTR);
    atomic_exchange_explicit(&w->rung, false, memory_order_acq_rel);
}
