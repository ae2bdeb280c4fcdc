/* decode.h - an answer of /v1/messages, event by event */
#ifndef PROVIDER_ANTHROPIC_DECODE_H
#define PROVIDER_ANTHROPIC_DECODE_H

#include "provider/anthropic/block.h"

/* One answer; zeroed at first. */
struct anthropic {
    struct answer answer;
    struct anthropic_blocks blocks;
    struct buf usage;           /* theirs, as far as it came, as a text */
    const allm_json *given;     /* a message_start with blocks that were not
                                   told yet; or NULL */
    bool greeted;               /* message_start came */
};

allm_status anthropic_decode(void *state, const allm_call *call,
                             const allm_frame *frame, allm_sink *sink);
allm_status anthropic_finish(void *state, const allm_call *call,
                             allm_sink *sink);

#endif
