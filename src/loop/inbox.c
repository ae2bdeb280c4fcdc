/*
 * inbox.c - how other threads hand things to the loop's thread
 *
 * A stack without a lock: threads push, the loop takes the whole of it and
 * turns it round.
 *
 *      head --> youngest --next--> ... --next--> oldest --> NULL
 *      head --> &closed                  nothing comes in any more
 *
 * Nobody ever takes a single item off, so that an item which came, went and
 * came again between two looks at head does no harm.
 */
#include "loop/inbox.h"

#include <errno.h>
#include <stdatomic.h>

struct inbox {
    struct mem mem;
    atomic_size_t count;
    _Atomic(struct inbox_item *) head;
    struct wake wake;
};

static struct inbox_item closed;        /* only its address counts */

int inbox_new(struct mem mem, struct inbox **out)
{
    *out = NULL;
    struct inbox *in = mem_alloc(mem, sizeof *in);
    if (!in)
        return ENOMEM;
    int error = wake_init(&in->wake);
    if (error) {
        mem_free(mem, in, sizeof *in);
        return error;
    }
    in->mem = mem;
    atomic_init(&in->count, 1);
    atomic_init(&in->head, NULL);
    *out = in;
    return 0;
}

struct inbox *inbox_keep(struct inbox *in)
{
    if (in)
        atomic_fetch_add_explicit(&in->count, 1, memory_order_relaxed);
    return in;
}

void inbox_drop(struct inbox *in)
{
    if (!in ||
        atomic_fetch_sub_explicit(&in->count, 1, memory_order_acq_rel) != 1)
        return;
    wake_release(&in->wake);
    mem_free(in->mem, in, sizeof *in);
}

struct wake *inbox_wake(struct inbox *in)
{
    return &in->wake;
}

/* As soon as it is pushed the item belongs to the loop's thread, but the inbox
 * is ours to ring: the caller has a reference. */
bool inbox_post(struct inbox *in, struct inbox_item *item)
{
    struct inbox_item *head = atomic_load_explicit(&in->head,
                                                   memory_order_relaxed);
    do {
        if (head == &closed)
            return false;
        item->next = head;
    } while (!atomic_compare_exchange_weak_explicit(
        &in->head, &head, item, memory_order_release, memory_order_relaxed));
    wake_ring(&in->wake);
    return true;
}

/* Oldest first. */
static struct inbox_item *turn_round(struct inbox_item *youngest)
{
    struct inbox_item *list = NULL;
    while (youngest) {
        struct inbox_item *next = youngest->next;
        youngest->next = list;
        list = youngest;
        youngest = next;
    }
    return list;
}

struct inbox_item *inbox_take(struct inbox *in)
{
    if (wake_rung(&in->wake))
        wake_clear(&in->wake);
    struct inbox_item *head = atomic_load_explicit(&in->head,
                                                   memory_order_relaxed);
    if (!head || head == &closed)       /* only this thread closes */
        return NULL;
    return turn_round(
        atomic_exchange_explicit(&in->head, NULL, memory_order_acquire));
}

struct inbox_item *inbox_close(struct inbox *in)
{
    struct inbox_item *head = atomic_exchange_explicit(&in->head, &closed,
                                                       memory_order_acq_rel);
    return head == &closed ? NULL : turn_round(head);
}
