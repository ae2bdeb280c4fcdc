/* decode.h - decode a response of /v1/messages, event by event */
#ifndef PROVIDER_ANTHROPIC_DECODE_H
#define PROVIDER_ANTHROPIC_DECODE_H

#include "provider/anthropic/block.h"

/* The state of one response; initially zero. */
struct anthropic {
    struct answer answer;
    struct anthropic_blocks blocks;
    struct buf usage;           /* Anthropic's, merged, as JSON text */
    const allm_json *initial;   /* the message_start, while its blocks are not
                                   emitted yet; or NULL */
    bool started;               /* message_start arrived */
};

allm_status anthropic_decode(void *state, const allm_call *call,
                             const allm_frame *frame, allm_sink *sink);
allm_status anthropic_finish(void *state, const allm_call *call,
                             allm_sink *sink);

#endif
