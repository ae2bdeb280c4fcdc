/* chat_encode.h - encode a request for /chat/completions */
#ifndef PROVIDER_OPENAI_CHAT_ENCODE_H
#define PROVIDER_OPENAI_CHAT_ENCODE_H

#include "allm.h"

allm_status openai_chat_encode(const allm_call *call, allm_http *out);

#endif
