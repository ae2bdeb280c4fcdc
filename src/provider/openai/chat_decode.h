/* chat_decode.h - an answer of /chat/completions, frame by frame */
#ifndef PROVIDER_OPENAI_CHAT_DECODE_H
#define PROVIDER_OPENAI_CHAT_DECODE_H

#include "provider/answer.h"
#include "provider/openai/reasoning_details.h"
#include "provider/think.h"

/* One answer; zeroed at first. */
struct openai_chat {
    struct answer answer;
    struct think think;
    struct reasoning_details details;
    uint64_t quirks;
    const char *native;         /* a router's own finish word; or NULL */
    bool began;                 /* the quirks are known */
    bool spoke_before;          /* content came without a finish word */
    bool thought_before;        /* reasoning came by a field of its own */
    bool wrote;                 /* text came by a field of its own */
};

allm_status openai_chat_decode(void *state, const allm_call *call,
                               const allm_frame *frame, allm_sink *sink);
allm_status openai_chat_finish(void *state, const allm_call *call,
                               allm_sink *sink);

#endif
