/* responses_decode.h - decode a response of /responses, event by event */
#ifndef PROVIDER_OPENAI_RESPONSES_DECODE_H
#define PROVIDER_OPENAI_RESPONSES_DECODE_H

#include "provider/openai/responses_item.h"

/* The state of a response; it begins zeroed. */
struct openai_responses {
    struct answer answer;
    struct responses_items items;
};

allm_status openai_responses_decode(void *state, const allm_call *call,
                                    const allm_frame *frame, allm_sink *sink);
allm_status openai_responses_finish(void *state, const allm_call *call,
                                    allm_sink *sink);

#endif
