/* waker.h - tell a stream, from any thread, that there is news */
#ifndef LOOP_WAKER_H
#define LOOP_WAKER_H

#include "allm.h"
#include "loop/inbox.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whoever rings sets `rung`, then posts to the inbox if there is one; whoever
 * waits publishes the inbox, then looks at `rung`.  So no ring is lost.
 */
struct allm_waker {
    struct inbox_item item;         /* in the inbox while `posted` */
    atomic_bool rung, posted;
    _Atomic(struct inbox *) inbox;  /* kept; NULL until somebody waits */
    /* For the thread that pulls: whoever waits wants nothing for now, so that
     * nothing new is begun; since when, and how long before that in all. */
    bool held;
    int64_t held_since_ns, held_ns;
};

void waker_init(struct allm_waker *w);
void waker_release(struct allm_waker *w);

/* Ring through this inbox from now on; it is kept. */
void waker_attach(struct allm_waker *w, struct inbox *in);

/* Its item was taken out of the inbox. */
void waker_unposted(struct allm_waker *w);

/* Was there a ring since the last question? */
bool waker_clear(struct allm_waker *w);

/* Hold it, or let it go on. */
void waker_hold(struct allm_waker *w, bool held, int64_t now_ns);

#endif
