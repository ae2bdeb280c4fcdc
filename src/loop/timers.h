/* timers.h - deadlines in the order of their time */
#ifndef LOOP_TIMERS_H
#define LOOP_TIMERS_H

#include "base/mem.h"

#include <stdint.h>

/*
 * Embedded in what waits for it; { 0 } is one that is not set.  It must not
 * move or go away while it is set.
 */
struct timer {
    int64_t due_ns;
    uint64_t order;     /* of two due at the same time the older goes first */
    size_t slot;        /* its place in the heap, from 1; 0: it is not set */
};

/* One clock for all of one set; which one is the caller's choice. */
struct timers {
    struct mem mem;
    struct timer **heap;
    size_t count, cap;
    uint64_t orders;
};

void timers_init(struct timers *t, struct mem mem);

/* Unsets all that are still set. */
void timers_release(struct timers *t);

/* Room for so many in all: with it setting cannot fail.  False: no memory. */
bool timers_reserve(struct timers *t, size_t count);

/* Set it, or move it if it is set.  False: no memory, and it is not set; one
 * that is set can always be moved. */
bool timers_set(struct timers *t, struct timer *timer, int64_t due_ns);

/* Does nothing if it is not set. */
void timers_cancel(struct timers *t, struct timer *timer);

/* When the next one is due; false if none is set. */
bool timers_next(const struct timers *t, int64_t *due_ns);

/* Take one that is due, the earliest first; NULL: none is due yet.  It is not
 * set any more.  One that is set anew for `now` or earlier is taken again. */
struct timer *timers_pop(struct timers *t, int64_t now_ns);

static inline bool timer_is_set(const struct timer *timer)
{
    return timer->slot != 0;
}

#endif
