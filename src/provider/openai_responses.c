/* openai_responses.c - the dialect of /responses: OpenAI and its look-alikes */
#include "provider/openai_responses.h"

#include "provider/openai_error.h"
#include "provider/openai_responses_decode.h"
#include "provider/openai_responses_encode.h"

const allm_adapter openai_responses_adapter = {
    .size = sizeof(allm_adapter),
    .name = "openai_responses",
    .state_size = sizeof(struct openai_responses),
    .framing = ALLM_FRAMING_SSE,
    .encode = openai_responses_encode,
    .decode = openai_responses_decode,
    .finish = openai_responses_finish,
    .explain = openai_error_explain,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
