/*
 * blocks.c - a queue of received bytes, whose first block can be borrowed
 *
 *      queue_add --> [ last ] ... [ first ] --queue_lend--> the reader
 *
 * Bytes arrive while the reader still uses earlier ones, so borrowed bytes must
 * not move.  Blocks never move.  A block that was read is kept for all queues,
 * and a stream that waits has none.
 */
#include "net/blocks.h"

enum {
    ROOM = 4096 - 2 * sizeof(void *),
    SPARE_LIMIT = 16            /* more are freed */
};

struct block {
    struct block *next;
    size_t len;
    char bytes[ROOM];
};

void blocks_init(struct blocks *b, struct mem mem)
{
    *b = (struct blocks){ .mem = mem };
}

void blocks_release(struct blocks *b)
{
    while (b->spare) {
        struct block *next = b->spare->next;
        mem_free(b->mem, b->spare, sizeof *b->spare);
        b->spare = next;
    }
    b->spare_count = 0;
}

static struct block *take_block(struct blocks *b)
{
    struct block *block = b->spare;
    if (block) {
        b->spare = block->next;
        b->spare_count--;
    } else {
        block = mem_alloc(b->mem, sizeof *block);
    }
    if (block) {
        block->next = NULL;
        block->len = 0;
    }
    return block;
}

static void return_block(struct blocks *b, struct block *block)
{
    if (b->spare_count >= SPARE_LIMIT) {
        mem_free(b->mem, block, sizeof *block);
        return;
    }
    block->next = b->spare;
    b->spare = block;
    b->spare_count++;
}

/* The block with room for the next byte; NULL: no memory. */
static struct block *open_block(struct queue *q, struct blocks *b)
{
    bool borrowed = q->borrowed && q->first == q->last;
    if (q->last && !borrowed && q->last->len < ROOM)
        return q->last;
    struct block *block = take_block(b);
    if (!block)
        return NULL;
    if (q->last)
        q->last->next = block;
    else
        q->first = block;
    q->last = block;
    return block;
}

bool queue_add(struct queue *q, struct blocks *b, struct slice bytes)
{
    while (bytes.len) {
        struct block *block = open_block(q, b);
        if (!block)
            return false;
        size_t room = ROOM - block->len;
        size_t n = bytes.len < room ? bytes.len : room;
        memcpy(block->bytes + block->len, bytes.ptr, n);
        block->len += n;
        q->bytes += n;
        bytes = slice_skip(bytes, n);
    }
    return true;
}

struct slice queue_lend(struct queue *q)
{
    if (!q->first)
        return (struct slice){ NULL, 0 };
    q->borrowed = true;
    return (struct slice){ q->first->bytes, q->first->len };
}

void queue_return(struct queue *q, struct blocks *b)
{
    struct block *block = q->first;
    if (!q->borrowed)
        return;
    q->borrowed = false;
    q->bytes -= block->len;
    q->first = block->next;
    if (!q->first)
        q->last = NULL;
    return_block(b, block);
}

void queue_clear(struct queue *q, struct blocks *b)
{
    while (queue_lend(q).ptr)
        queue_return(q, b);
}
