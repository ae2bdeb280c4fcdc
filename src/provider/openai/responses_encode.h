/* responses_encode.h - encode a request for /responses */
#ifndef PROVIDER_OPENAI_RESPONSES_ENCODE_H
#define PROVIDER_OPENAI_RESPONSES_ENCODE_H

#include "allm.h"
#include "base/arena.h"

allm_status openai_responses_encode(const allm_call *call, allm_http *out);

/* The limit of output tokens in the request; not set: no limit. */
allm_int openai_responses_limit(const allm_call *call, struct arena *a);

#endif
