/* inbox.h - how other threads hand things to the loop's thread */
#ifndef LOOP_INBOX_H
#define LOOP_INBOX_H

#include "base/mem.h"
#include "loop/wake.h"

/* Embedded in what is handed over. */
struct inbox_item {
    struct inbox_item *next;
};

/*
 * Counted: the loop has one reference, and so has everyone who may still post.
 * It outlives the loop; when the loop goes it closes the inbox, and posts are
 * refused from then on.
 */
struct inbox;

/* Count 1.  0, or an errno and *out is NULL. */
int inbox_new(struct mem mem, struct inbox **out);
struct inbox *inbox_keep(struct inbox *in);
void inbox_drop(struct inbox *in);              /* NULL is fine */

/* To be watched by the loop; others may ring it without a post. */
struct wake *inbox_wake(struct inbox *in);

/* Hand an item over and ring, from any thread.  False: closed, and the item is
 * still the caller's. */
bool inbox_post(struct inbox *in, struct inbox_item *item);

/* Take all that is there, the oldest first, as a list; the waker is cleared if
 * it was rung.  By the loop's thread only, which clears the waker itself when
 * its descriptor is readable. */
struct inbox_item *inbox_take(struct inbox *in);

/* As inbox_take(), and refuse what comes later. */
struct inbox_item *inbox_close(struct inbox *in);

#endif
