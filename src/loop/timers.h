/* timers.h - deadlines, ordered by time */
#pragma once

#include "base/mem.h"

#include <stdint.h>

/*
 * Embedded in what waits for it; { 0 } is one that is not set.  It must not
 * move or go away while it is set.
 */
struct timer {
    int64_t due_ns;
    uint64_t order;     /* of timers due at the same time the older is first */
    size_t slot;        /* its place in the heap, from 1; 0: it is not set */
};

/* All timers of a set use one clock, which the caller chooses. */
struct timers {
    struct mem mem;
    struct timer **heap;
    size_t count, cap;
    uint64_t orders;
};

void timers_init(struct timers *t, struct mem mem);

/* Cancels all timers. */
void timers_release(struct timers *t);

/* Reserve room for `count` timers: setting them cannot fail then.  False: no
 * memory. */
bool timers_reserve(struct timers *t, size_t count);

/* Set it, or move it if it is set.  False: no memory, and it is not set; one
 * that is set can always be moved. */
bool timers_set(struct timers *t, struct timer *timer, int64_t due_ns);

/* Does nothing if it is not set. */
void timers_cancel(struct timers *t, struct timer *timer);

/* When the next one is due; false if none is set. */
bool timers_next(const struct timers *t, int64_t *due_ns);

/* Remove and return the earliest timer that is due; NULL: none is due.  A timer
 * that is set again for `now` or earlier is returned again. */
struct timer *timers_pop(struct timers *t, int64_t now_ns);

static inline bool timer_is_set(const struct timer *timer)
{
    return timer->slot != 0;
}
