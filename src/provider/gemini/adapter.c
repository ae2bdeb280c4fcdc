/* adapter.c - the adapter for streamGenerateContent: Google's native API */
#include "provider/dialects.h"

#include "provider/gemini/decode.h"
#include "provider/gemini/encode.h"
#include "provider/gemini/error.h"

const allm_adapter gemini_adapter = {
    .size = sizeof(allm_adapter),
    .name = "gemini",
    .state_size = sizeof(struct gemini),
    .framing = ALLM_FRAMING_SSE,
    .encode = gemini_encode,
    .decode = gemini_decode,
    .finish = gemini_finish,
    .explain = gemini_error_explain,
    .needs_finalize = gemini_needs_finalize,
    .auth_header = "x-goog-api-key",
};
