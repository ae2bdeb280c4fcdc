/* pool.h - hubs of lone streams that have ended, kept for the next ones */
#ifndef RUN_POOL_H
#define RUN_POOL_H

#include "base/attachment.h"
#include "base/clock.h"
#include "base/mem.h"

/*
 * They hang on the engine, with their connections, so that its next stream need
 * not connect again; whatever thread that is in.
 */
enum { POOL_MOST = 32 };            /* of an engine; three descriptors each */

struct pool_item {                  /* embedded in what is kept */
    struct pool_item *next;
    struct clock clock;             /* by which it goes */
    void (*free)(struct pool_item *item);
};

/* Keep it.  False: there are enough, or no memory. */
bool pool_put(allm_attachments *a, struct mem mem, struct pool_item *item);

/* One that goes by this clock; NULL: there is none. */
struct pool_item *pool_take(allm_attachments *a, struct clock clock);

#endif
