/* adapter.c - the adapter for /api/chat: Ollama's native API */
#include "provider/dialects.h"

#include "provider/error_body.h"
#include "provider/ollama/decode.h"
#include "provider/ollama/encode.h"
#include "json/json.h"

/* A response that must match a schema cannot contain a call. */
static bool needs_finalize(const allm_request *r)
{
    return r->tool_count &&
           json_is(allm_json_get(r->response_format, "type"), "json_schema");
}

const allm_adapter ollama_adapter = {
    .size = sizeof(allm_adapter),
    .name = "ollama",
    .state_size = sizeof(struct ollama),
    .framing = ALLM_FRAMING_NDJSON,
    .encode = ollama_encode,
    .decode = ollama_decode,
    .finish = ollama_finish,
    .explain = error_body_explain,
    .needs_finalize = needs_finalize,
    .auth_header = "authorization",
    .auth_prefix = "Bearer ",
};
