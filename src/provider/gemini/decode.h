/* decode.h - an answer of streamGenerateContent, frame by frame */
#ifndef PROVIDER_GEMINI_DECODE_H
#define PROVIDER_GEMINI_DECODE_H

#include "provider/gemini/parts.h"
#include "provider/gemini/usage.h"

/* One answer; zeroed at first. */
struct gemini {
    struct answer answer;
    struct gemini_parts parts;
    struct gemini_usage usage;
    bool chosen;                /* a candidate came */
    bool framed, cut;           /* a whole frame came; the last one is not */
};

allm_status gemini_decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink);
allm_status gemini_finish(void *state, const allm_call *call, allm_sink *sink);

#endif
