/*
 * inbox.c - how other threads hand items to the loop's thread
 *
 * A stack without a lock: threads push, the loop takes the whole stack and
 * reverses it.
 *
 *      head --> youngest --next--> ... --next--> oldest --> NULL
 *      head --> &closed                  no more posts
 *
 * No thread ever takes a single item off, so an item that is posted, taken and
 * posted again between two reads of head does no harm.
 *
 * The inboxes that replace one another share the first one's descriptor; each
 * holds a reference to the first.
 */
#include "loop/inbox.h"

#include <errno.h>
#include <stdatomic.h>

struct inbox {
    struct mem mem;
    atomic_size_t count;
    _Atomic(struct inbox_item *) head;
    struct inbox *first;        /* whose wake is used; NULL: this one's */
    struct wake wake;
};

static struct inbox_item closed;        /* only its address matters */

/* Without a descriptor yet; NULL: no memory. */
static struct inbox *alloc_inbox(struct mem mem)
{
    struct inbox *in = mem_alloc(mem, sizeof *in);
    if (!in)
        return NULL;
    in->mem = mem;
    in->first = NULL;
    atomic_init(&in->count, 1);
    atomic_init(&in->head, NULL);
    return in;
}

int inbox_new(struct mem mem, struct inbox **out)
{
    *out = NULL;
    struct inbox *in = alloc_inbox(mem);
    if (!in)
        return ENOMEM;
    int error = wake_init(&in->wake);
    if (error)
        mem_free(mem, in, sizeof *in);
    else
        *out = in;
    return error;
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
    if (in->first)
        inbox_drop(in->first);
    else
        wake_release(&in->wake);
    mem_free(in->mem, in, sizeof *in);
}

struct inbox *inbox_replace(struct inbox *old)
{
    struct inbox *fresh = alloc_inbox(old->mem);
    if (!fresh)
        return NULL;
    fresh->first = inbox_keep(old->first ? old->first : old);
    inbox_close(old);
    inbox_drop(old);
    return fresh;
}

struct wake *inbox_wake(struct inbox *in)
{
    return in->first ? &in->first->wake : &in->wake;
}

/* Once pushed, the item belongs to the loop's thread.  The inbox may still be
 * used: the caller holds a reference. */
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
    wake_ring(inbox_wake(in));
    return true;
}

/* Oldest first. */
static struct inbox_item *reverse_list(struct inbox_item *youngest)
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
    wake_listen(inbox_wake(in));
    struct inbox_item *head = atomic_load_explicit(&in->head,
                                                   memory_order_relaxed);
    if (!head || head == &closed)       /* only this thread closes it */
        return NULL;
    return reverse_list(
        atomic_exchange_explicit(&in->head, NULL, memory_order_acquire));
}

struct inbox_item *inbox_close(struct inbox *in)
{
    struct inbox_item *head = atomic_exchange_explicit(&in->head, &closed,
                                                       memory_order_acq_rel);
    return head == &closed ? NULL : reverse_list(head);
}
