/*
 * attachment.c - objects attached to an engine and freed with it
 *
 * An attachment is found by a key, the address of an object of its owner.  The
 * first caller that requests it creates it, under the lock.
 */
#include "base/attachment.h"

#include <pthread.h>
#include <stdatomic.h>

struct attachment {
    struct attachment *next;
    const void *key;
    void *thing;
    void (*drop)(void *thing);
};

struct allm_attachments {
    atomic_size_t count;
    struct mem mem;
    pthread_mutex_t lock;
    struct attachment *first;
};

allm_attachments *attachment_new(struct mem mem)
{
    allm_attachments *a = mem_alloc(mem, sizeof *a);
    if (!a)
        return NULL;
    *a = (allm_attachments){ .mem = mem };
    atomic_init(&a->count, 1);
    if (pthread_mutex_init(&a->lock, NULL) == 0)
        return a;
    mem_free(mem, a, sizeof *a);
    return NULL;
}

allm_attachments *attachment_keep(allm_attachments *a)
{
    if (a)
        atomic_fetch_add_explicit(&a->count, 1, memory_order_relaxed);
    return a;
}

struct mem attachment_mem(const allm_attachments *a)
{
    return a ? a->mem : mem_default();
}

void attachment_drop(allm_attachments *a)
{
    if (!a ||
        atomic_fetch_sub_explicit(&a->count, 1, memory_order_acq_rel) != 1)
        return;
    while (a->first) {
        struct attachment *one = a->first;
        a->first = one->next;
        if (one->drop)
            one->drop(one->thing);
        mem_free(a->mem, one, sizeof *one);
    }
    pthread_mutex_destroy(&a->lock);
    mem_free(a->mem, a, sizeof *a);
}

static struct attachment *find_attachment(allm_attachments *a, const void *key)
{
    struct attachment *one = a->first;
    while (one && one->key != key)
        one = one->next;
    return one;
}

static struct attachment *add_attachment(allm_attachments *a, const void *key,
                                         void *(*make)(void *ud),
                                         void (*drop)(void *), void *ud)
{
    struct attachment *one = mem_alloc(a->mem, sizeof *one);
    void *thing = one ? make(ud) : NULL;
    if (!thing) {
        mem_free(a->mem, one, sizeof *one);
        return NULL;
    }
    *one = (struct attachment){ a->first, key, thing, drop };
    a->first = one;
    return one;
}

void *allm_attachment_get(allm_attachments *a, const void *key,
                          void *(*make)(void *ud), void (*drop)(void *),
                          void *ud)
{
    if (!a)
        return NULL;
    pthread_mutex_lock(&a->lock);
    struct attachment *one = find_attachment(a, key);
    if (!one && make)
        one = add_attachment(a, key, make, drop, ud);
    void *thing = one ? one->thing : NULL;
    pthread_mutex_unlock(&a->lock);
    return thing;
}
