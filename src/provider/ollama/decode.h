/* decode.h - decode a response of /api/chat, line by line */
#ifndef PROVIDER_OLLAMA_DECODE_H
#define PROVIDER_OLLAMA_DECODE_H

#include "provider/answer.h"

/* The state of one response; initially zero. */
struct ollama {
    struct answer answer;
    struct think think;
    uint64_t quirks;
    bool initialized;           /* the quirks are known */
    bool thought;               /* a line had "thinking" */
};

allm_status ollama_decode(void *state, const allm_call *call,
                          const allm_frame *frame, allm_sink *sink);
allm_status ollama_finish(void *state, const allm_call *call, allm_sink *sink);

#endif
