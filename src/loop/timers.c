/*
 * timers.c - deadlines in the order of their time: a binary heap
 *
 *      heap  [0: next due] [1] [2] [3] ...      children of i: 2i+1, 2i+2
 *
 * Invariants
 *   (1) heap[i]->slot == i + 1 for every i below count.
 *   (2) No timer goes before its parent.
 */
#include "loop/timers.h"

enum { FIRST = 16 };

void timers_init(struct timers *t, struct mem mem)
{
    *t = (struct timers){ .mem = mem };
}

void timers_release(struct timers *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->heap[i]->slot = 0;
    mem_free(t->mem, t->heap, t->cap * sizeof(struct timer *));
    timers_init(t, t->mem);
}

bool timers_reserve(struct timers *t, size_t count)
{
    if (count <= t->cap)
        return true;
    size_t cap = t->cap ? t->cap : FIRST;
    while (cap < count)
        if (!mem_mul(cap, 2, &cap))
            return false;
    size_t size;
    if (!mem_mul(cap, sizeof(struct timer *), &size))
        return false;
    size_t old = t->cap * sizeof(struct timer *);
    struct timer **heap = t->heap ? mem_resize(t->mem, t->heap, old, size)
                                  : mem_alloc(t->mem, size);
    if (!heap)
        return false;
    t->heap = heap;
    t->cap = cap;
    return true;
}

static bool goes_before(const struct timer *a, const struct timer *b)
{
    if (a->due_ns != b->due_ns)
        return a->due_ns < b->due_ns;
    return a->order < b->order;
}

/* Keeps (1). */
static void put(struct timers *t, size_t i, struct timer *timer)
{
    t->heap[i] = timer;
    timer->slot = i + 1;
}

/* The hole at i moves up to where the timer belongs. */
static size_t rise(struct timers *t, size_t i, const struct timer *timer)
{
    while (i > 0 && goes_before(timer, t->heap[(i - 1) / 2])) {
        put(t, i, t->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    return i;
}

/* The hole at i moves down to where the timer belongs. */
static size_t sink(struct timers *t, size_t i, const struct timer *timer)
{
    for (size_t child; (child = 2 * i + 1) < t->count; i = child) {
        if (child + 1 < t->count &&
            goes_before(t->heap[child + 1], t->heap[child]))
            child++;
        if (!goes_before(t->heap[child], timer))
            break;
        put(t, i, t->heap[child]);
    }
    return i;
}

/* Put a timer into the hole at i, or where it belongs instead: keeps (2). */
static void place(struct timers *t, size_t i, struct timer *timer)
{
    put(t, sink(t, rise(t, i, timer), timer), timer);
}

bool timers_set(struct timers *t, struct timer *timer, int64_t due_ns)
{
    if (!timer->slot) {
        if (!timers_reserve(t, t->count + 1))
            return false;
        timer->slot = ++t->count;
    }
    timer->due_ns = due_ns;
    timer->order = ++t->orders;
    place(t, timer->slot - 1, timer);
    return true;
}

void timers_cancel(struct timers *t, struct timer *timer)
{
    if (!timer->slot)
        return;
    struct timer *last = t->heap[--t->count];
    if (last != timer)
        place(t, timer->slot - 1, last);
    timer->slot = 0;
}

bool timers_next(const struct timers *t, int64_t *due_ns)
{
    if (t->count == 0)
        return false;
    *due_ns = t->heap[0]->due_ns;
    return true;
}

struct timer *timers_pop(struct timers *t, int64_t now_ns)
{
    if (t->count == 0 || t->heap[0]->due_ns > now_ns)
        return NULL;
    struct timer *timer = t->heap[0];
    timers_cancel(t, timer);
    return timer;
}
