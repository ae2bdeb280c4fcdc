/* responses_encode.h - a request as /responses wants it */
#ifndef PROVIDER_OPENAI_RESPONSES_ENCODE_H
#define PROVIDER_OPENAI_RESPONSES_ENCODE_H

#include "allm.h"
#include "base/arena.h"

allm_status openai_responses_encode(const allm_call *call, allm_http *out);

/* How many tokens the request lets the model write; not set: no limit. */
allm_int openai_responses_limit(const allm_call *call, struct arena *a);

#endif
