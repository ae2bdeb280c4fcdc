/* responses.c - the dialect of /responses: OpenAI and compatible servers */
#include "provider/dialects.h"

#include "provider/error_body.h"
#include "provider/openai/responses_decode.h"
#include "provider/openai/responses_encode.h"

const allm_adapter openai_responses_adapter = {
    .size = sizeof(allm_adapter),
    .name = "openai_responses",
    .state_size = sizeof(struct openai_responses),
    .framing = ALLM_FRAMING_SSE,
    .encode = openai_responses_encode,
    .decode = openai_responses_decode,
    .finish = openai_responses_finish,
    .explain = error_body_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
