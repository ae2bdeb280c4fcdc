/* openai_responses_encode.h - a request as /responses wants it */
#ifndef PROVIDER_OPENAI_RESPONSES_ENCODE_H
#define PROVIDER_OPENAI_RESPONSES_ENCODE_H

#include "allm_ext.h"

allm_status openai_responses_encode(const allm_call *call, allm_http *out);

#endif
