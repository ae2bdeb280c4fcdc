/* encode.h - encode a request for streamGenerateContent */
#pragma once

#include "allm.h"

allm_status gemini_encode(const allm_call *call, allm_http *out);

/* Does the request have both a response schema and tools?  Most models reject
 * the combination. */
bool gemini_needs_finalize(const allm_request *r);
