/* pool.c - idle hubs of lone streams, kept for the next streams */
#include "run/pool.h"

#include <pthread.h>

struct pool {
    struct mem mem;
    pthread_mutex_t lock;
    struct pool_item *first;
    size_t count;
};

static const char pool_key;         /* its address is the key */

static void pool_free(void *made)
{
    struct pool *p = made;
    while (p->first) {
        struct pool_item *item = p->first;
        p->first = item->next;
        item->free(item);
    }
    pthread_mutex_destroy(&p->lock);
    mem_free(p->mem, p, sizeof *p);
}

static void *pool_make(void *ud)
{
    struct mem *mem = ud;
    struct pool *p = mem_alloc(*mem, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct pool){ .mem = *mem };
    if (pthread_mutex_init(&p->lock, NULL) == 0)
        return p;
    mem_free(*mem, p, sizeof *p);
    return NULL;
}

bool pool_put(allm_attachments *a, struct mem mem, struct pool_item *item)
{
    struct pool *p = allm_attachment_get(a, &pool_key, pool_make, pool_free,
                                         &mem);
    if (!p)
        return false;
    pthread_mutex_lock(&p->lock);
    bool room = p->count < POOL_MOST;
    if (room) {
        item->next = p->first;
        p->first = item;
        p->count++;
    }
    pthread_mutex_unlock(&p->lock);
    return room;
}

struct pool_item *pool_take(allm_attachments *a, struct clock clock)
{
    struct pool *p = allm_attachment_get(a, &pool_key, NULL, NULL, NULL);
    if (!p)
        return NULL;
    pthread_mutex_lock(&p->lock);
    struct pool_item *item = p->first;
    if (item && clock_is(item->clock, clock)) {
        p->first = item->next;
        p->count--;
    } else {
        item = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    return item;
}
