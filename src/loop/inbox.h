/* inbox.h - how other threads hand items to the loop's thread */
#pragma once

#include "base/mem.h"
#include "loop/wake.h"

/* Embedded in the object that is handed over. */
struct inbox_item {
    struct inbox_item *next;
};

/*
 * Reference-counted: the loop holds one reference, and so does everyone who may
 * still post.  The inbox outlives the loop.  The loop closes it when it ends;
 * from then on posts are rejected.
 */
struct inbox;

/* Count 1.  0, or an errno and *out is NULL. */
int inbox_new(struct mem mem, struct inbox **out);
struct inbox *inbox_keep(struct inbox *in);
void inbox_drop(struct inbox *in);              /* NULL is fine */

/*
 * An empty inbox that wakes the loop by the same descriptor.  The old one is
 * closed and dropped: posts to it are rejected, though a thread that is just
 * posting may still ring.  NULL: no memory, and the old one is unchanged.
 */
struct inbox *inbox_replace(struct inbox *old);

/* The loop watches it; other threads may ring it without a post. */
struct wake *inbox_wake(struct inbox *in);

/* Hand an item over and ring, from any thread.  False: closed, and the item
 * still belongs to the caller. */
bool inbox_post(struct inbox *in, struct inbox_item *item);

/* Take all items as a list, the oldest first, and listen for rings again.  By
 * the loop's thread only, which calls wake_readable() before if it found the
 * descriptor readable. */
struct inbox_item *inbox_take(struct inbox *in);

/* As inbox_take(), but later posts are rejected. */
struct inbox_item *inbox_close(struct inbox *in);
