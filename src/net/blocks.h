/* blocks.h - a queue of received bytes, whose first block can be borrowed */
#pragma once

#include "base/mem.h"
#include "base/slice.h"

struct block;

/* Unused blocks, shared by many queues. */
struct blocks {
    struct mem mem;
    struct block *spare;
    size_t spare_count;
};

/* { 0 } is an empty queue. */
struct queue {
    struct block *first, *last;
    size_t bytes;               /* of all blocks, including a borrowed one */
    bool borrowed;              /* the first block is borrowed */
};

void blocks_init(struct blocks *b, struct mem mem);
void blocks_release(struct blocks *b);

/* Copy bytes to the end.  False: no memory, and only some were copied. */
bool queue_add(struct queue *q, struct blocks *b, struct slice bytes);

/* Borrow the next bytes, until queue_return(); length 0: there are none. */
struct slice queue_lend(struct queue *q);

/* Return the borrowed bytes, if any. */
void queue_return(struct queue *q, struct blocks *b);

void queue_clear(struct queue *q, struct blocks *b);
