/* adapter.c - the adapter for /v1/messages: Anthropic and compatible servers */
#include "provider/dialects.h"

#include "provider/anthropic/decode.h"
#include "provider/anthropic/encode.h"
#include "provider/anthropic/error.h"

const allm_adapter anthropic_adapter = {
    .size = sizeof(allm_adapter),
    .name = "anthropic",
    .state_size = sizeof(struct anthropic),
    .framing = ALLM_FRAMING_SSE,
    .encode = anthropic_encode,
    .decode = anthropic_decode,
    .finish = anthropic_finish,
    .explain = anthropic_error_explain,
    .auth_header = "x-api-key",
};
