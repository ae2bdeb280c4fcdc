/* blocks.h - bytes on their way: a queue that lends its first block */
#ifndef NET_BLOCKS_H
#define NET_BLOCKS_H

#include "base/mem.h"
#include "base/slice.h"

struct block;

/* Blocks that many queues share; those not in use are kept for the next. */
struct blocks {
    struct mem mem;
    struct block *spare;
    size_t spare_count;
};

/* { 0 } is an empty one. */
struct queue {
    struct block *first, *last;
    size_t bytes;               /* of all blocks, the lent one too */
    bool lent;                  /* the first one: nothing may touch it */
};

void blocks_init(struct blocks *b, struct mem mem);
void blocks_release(struct blocks *b);

/* Copy bytes to the end.  False: no memory, and only some were copied. */
bool queue_add(struct queue *q, struct blocks *b, struct slice bytes);

/* The next bytes, until queue_return(); none: the length is 0. */
struct slice queue_lend(struct queue *q);

/* What was lent, if anything, is not needed any more. */
void queue_return(struct queue *q, struct blocks *b);

void queue_clear(struct queue *q, struct blocks *b);

#endif
