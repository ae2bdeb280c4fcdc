/* waker.c - wake a stream, from any thread */
#include "loop/waker.h"

#include "base/clock.h"

_Static_assert(ATOMIC_POINTER_LOCK_FREE == 2 && ATOMIC_BOOL_LOCK_FREE == 2,
               "a signal handler may ring");

void waker_init(struct allm_waker *w)
{
    w->item = (struct inbox_item){ NULL };
    atomic_init(&w->rung, false);
    atomic_init(&w->posted, false);
    atomic_init(&w->inbox, NULL);
    w->held = false;
    w->held_since_ns = w->held_ns = 0;
}

void waker_release(struct allm_waker *w)
{
    inbox_drop(atomic_exchange(&w->inbox, NULL));
}

void waker_attach(struct allm_waker *w, struct inbox *in)
{
    inbox_drop(atomic_exchange(&w->inbox, inbox_keep(in)));
}

void waker_unposted(struct allm_waker *w)
{
    atomic_store(&w->posted, false);
}

bool waker_clear(struct allm_waker *w)
{
    return atomic_exchange(&w->rung, false);
}

void waker_hold(struct allm_waker *w, bool held, int64_t now_ns)
{
    if (w->held && !held)
        w->held_ns = clock_add(w->held_ns,
                               clock_between(w->held_since_ns, now_ns));
    w->held_since_ns = now_ns;
    w->held = held;
}

void allm_waker_ring(allm_waker *w)
{
    if (!w)
        return;
    atomic_store(&w->rung, true);
    struct inbox *in = atomic_load(&w->inbox);
    if (in && !atomic_exchange(&w->posted, true))
        inbox_post(in, &w->item);
}
