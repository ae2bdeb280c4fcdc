/* decode.h - decode a response of streamGenerateContent, frame by frame */
#ifndef PROVIDER_GEMINI_DECODE_H
#define PROVIDER_GEMINI_DECODE_H

#include "provider/gemini/parts.h"
#include "provider/gemini/usage.h"

/* The state of one response; initially zero. */
struct gemini {
    struct answer answer;
    struct gemini_parts parts;
    struct gemini_usage usage;
    bool has_candidate;         /* a candidate arrived */
    bool has_frame;             /* a complete frame arrived */
    bool last_cut;              /* the last frame is incomplete */
};

allm_status gemini_decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink);
allm_status gemini_finish(void *state, const allm_call *call, allm_sink *sink);

#endif
