/* responses_encode.h - encode a request for /responses */
#pragma once

#include "allm.h"
#include "base/arena.h"

allm_status openai_responses_encode(const allm_call *call, allm_http *out);

/* The limit of output tokens in the request; not set: no limit. */
allm_int openai_responses_limit(const allm_call *call, struct arena *a);
