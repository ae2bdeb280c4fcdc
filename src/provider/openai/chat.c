/* chat.c - the dialect of /chat/completions, which most servers support */
#include "provider/dialects.h"

#include "provider/error_body.h"
#include "provider/openai/chat_decode.h"
#include "provider/openai/chat_encode.h"

const allm_adapter openai_chat_adapter = {
    .size = sizeof(allm_adapter),
    .name = "openai_chat",
    .state_size = sizeof(struct openai_chat),
    .framing = ALLM_FRAMING_SSE,
    .encode = openai_chat_encode,
    .decode = openai_chat_decode,
    .finish = openai_chat_finish,
    .explain = error_body_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
