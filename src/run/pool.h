/* pool.h - idle hubs of lone streams, kept for the next streams */
#pragma once

#include "base/attachment.h"
#include "base/clock.h"
#include "base/mem.h"

/*
 * The engine owns the pool.  The hubs keep their connections, so that its next
 * stream, in any thread, need not connect again.
 */
enum { POOL_MOST = 32 };            /* for each engine; up to 3 descriptors */

struct pool_item {                  /* embedded in a hub */
    struct pool_item *next;
    struct clock clock;             /* of the hub */
    void (*free)(struct pool_item *item);
};

/* Keep a hub.  False: the pool is full, or no memory. */
bool pool_put(allm_attachments *a, struct mem mem, struct pool_item *item);

/* Take a hub with this clock; NULL: there is none. */
struct pool_item *pool_take(allm_attachments *a, struct clock clock);
