/*
 * block.h - the blocks of an answer, put together again
 *
 * An answer is a list of blocks: text, thinking, tool_use and what we know
 * nothing of.  Each begins, grows by deltas and ends; those that the model
 * wants to see again are kept, with the order of all of them.
 */
#ifndef PROVIDER_ANTHROPIC_BLOCK_H
#define PROVIDER_ANTHROPIC_BLOCK_H

#include "provider/answer.h"

struct anthropic_block;

struct anthropic_blocks {       /* zeroed at first */
    struct answer *answer;      /* where everything is told */
    struct anthropic_block *first, *last;
    size_t count;
    size_t by_code;             /* calls that code of the provider made */
    bool unsigned_thoughts;     /* keep those without a signature, too */
};

/* content_block_start: the block as far as it is there.  False: we know
 * nothing of its kind, though it is kept. */
bool anthropic_block_start(struct anthropic_blocks *all, int64_t index,
                           const allm_json *block);

/* content_block_delta.  False: nothing of it was told to anybody. */
bool anthropic_block_grow(struct anthropic_blocks *all, int64_t index,
                          const allm_json *delta);

/* content_block_stop. */
void anthropic_block_stop(struct anthropic_blocks *all, int64_t index);

/*
 * The end of the answer: what is still open ends.  A call that code of the
 * provider made is told now: as a raw chunk if its result is here, too, else
 * as a call.
 */
void anthropic_block_end(struct anthropic_blocks *all);

/*
 * What is to be sent back with the message: {"content": [...]}, in the memory
 * of events.  NULL: text and calls say it all.
 *
 *      {"type": "text", "bytes": n, ...}   the next n bytes of the text
 *      {"type": "tool_use"}                the next call; with an "id": as it
 *                                          came, it has its result
 *      anything else                       as it came
 */
const allm_json *anthropic_block_state(const struct anthropic_blocks *all);

#endif
