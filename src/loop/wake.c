/*
 * wake.c - wake the loop's thread from its wait: an eventfd and a flag
 *
 * The flag is set while a ring need not write: another ring has written, or the
 * loop is awake.
 *
 *      ring:    set the flag; if it was clear, write
 *      mute:    set the flag; if it was set, a ring has written or will
 *      listen:  read if a ring has written; then clear the flag
 *
 * A ring that sets the flag before listen() clears it may write after the read.
 * That costs a wake-up for nothing.  The opposite cannot happen: once the flag
 * is clear every ring writes, and only the next listen() reads.  Both exchange
 * the flag, so that the loop sees the news of each ring that did not write.
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
    w->muted = w->written = false;
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

/* A write fails only when the counter is full; then the descriptor is readable,
 * which is all we want. */
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

void wake_mute(struct wake *w)
{
    if (w->muted)
        return;
    w->muted = true;
    if (atomic_exchange_explicit(&w->rung, true, memory_order_acq_rel))
        w->written = true;
}

void wake_readable(struct wake *w)
{
    w->written = true;
}

void wake_listen(struct wake *w)
{
    uint64_t count;
    ssize_t n;
    wake_mute(w);               /* find out whether a ring has written */
    if (w->written) {
        do {
            n = read(w->fd, &count, sizeof count);
        } while (n < 0 && errno == EINTR);
    }
    w->muted = w->written = false;
    atomic_exchange_explicit(&w->rung, false, memory_order_acq_rel);
}

void wake_clear(struct wake *w)
{
    wake_readable(w);
    wake_listen(w);
}
