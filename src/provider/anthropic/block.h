/*
 * block.h - assemble the content blocks of a response
 *
 * A response is a list of blocks: text, thinking, tool_use and unknown types.
 * Each block starts, grows by deltas and stops.  Blocks that must be sent back
 * to the model are kept, together with the order of all blocks.
 */
#pragma once

#include "provider/answer.h"

struct anthropic_block;

struct anthropic_blocks {       /* initially zero */
    struct answer *answer;      /* receives all events */
    struct anthropic_block *first, *last;
    size_t count;
    size_t by_code;             /* calls made by the provider's code */
    bool unsigned_thoughts;     /* also keep those without a signature */
};

/* content_block_start, with the initial block.  False: its type is unknown; it
 * is kept nevertheless. */
bool anthropic_block_start(struct anthropic_blocks *all, int64_t index,
                           const allm_json *block);

/* content_block_delta.  False: no event was emitted for it. */
bool anthropic_block_grow(struct anthropic_blocks *all, int64_t index,
                          const allm_json *delta);

/* content_block_stop. */
void anthropic_block_stop(struct anthropic_blocks *all, int64_t index);

/*
 * The end of the response: end the blocks that are still open.  A call that the
 * provider's code made is emitted now: as a raw chunk if its result is in the
 * response, else as a call.
 */
void anthropic_block_end(struct anthropic_blocks *all);

/*
 * The state to send back with the message: {"content": [...]}, in the memory of
 * events.  NULL: text and calls are enough.
 *
 *      {"type": "text", "bytes": n, ...}   the next n bytes of the text
 *      {"type": "tool_use"}                the next call; one with an "id" has
 *                                          its result, and is sent unchanged
 *      anything else                       sent unchanged
 */
const allm_json *anthropic_block_state(const struct anthropic_blocks *all);
