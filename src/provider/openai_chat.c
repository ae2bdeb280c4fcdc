/* openai_chat.c - the dialect of /chat/completions, which most servers speak */
#include "provider/openai_chat.h"

#include "provider/openai_chat_decode.h"
#include "provider/openai_chat_encode.h"
#include "provider/openai_error.h"

const allm_adapter openai_chat_adapter = {
    .size = sizeof(allm_adapter),
    .name = "openai_chat",
    .state_size = sizeof(struct openai_chat),
    .framing = ALLM_FRAMING_SSE,
    .encode = openai_chat_encode,
    .decode = openai_chat_decode,
    .finish = openai_chat_finish,
    .explain = openai_error_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
