/* chat_decode.h - decode a response of /chat/completions, frame by frame */
#ifndef PROVIDER_OPENAI_CHAT_DECODE_H
#define PROVIDER_OPENAI_CHAT_DECODE_H

#include "provider/answer.h"
#include "provider/openai/chat_repeat.h"
#include "provider/openai/reasoning_details.h"

/* The state of a response; it begins zeroed. */
struct openai_chat {
    struct answer answer;
    struct think think;
    struct reasoning_details details;
    struct chat_repeat repeat;
    uint64_t quirks;
    const char *native;         /* the model's own finish reason; or NULL */
    bool began;                 /* the quirks are known */
    bool content_before;        /* a frame had content and no finish reason */
    bool reasoning_before;      /* a field other than the details had it */
    bool has_content;           /* "content" had text */
};

allm_status openai_chat_decode(void *state, const allm_call *call,
                               const allm_frame *frame, allm_sink *sink);
allm_status openai_chat_finish(void *state, const allm_call *call,
                               allm_sink *sink);

#endif
