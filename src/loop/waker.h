/* waker.h - wake a stream, from any thread */
#pragma once

#include "allm.h"
#include "loop/inbox.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A ring sets `rung`, then posts to the inbox if there is one.  A waiting
 * thread publishes the inbox, then reads `rung`.  So no ring is lost.
 */
struct allm_waker {
    struct inbox_item item;         /* in the inbox while `posted` */
    atomic_bool rung, posted;
    _Atomic(struct inbox *) inbox;  /* referenced; NULL until a thread waits */
    /* For the thread that pulls: the stream is held and must begin nothing new;
     * since when, and for how long before that. */
    bool held;
    int64_t held_since_ns, held_ns;
};

void waker_init(struct allm_waker *w);
void waker_release(struct allm_waker *w);

/* Post to this inbox from now on; the waker keeps a reference. */
void waker_attach(struct allm_waker *w, struct inbox *in);

/* The inbox does not hold its item any more. */
void waker_unposted(struct allm_waker *w);

/* Was there a ring since the last call? */
bool waker_clear(struct allm_waker *w);

/* Hold the stream, or let it continue. */
void waker_hold(struct allm_waker *w, bool held, int64_t now_ns);
