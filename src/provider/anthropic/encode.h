/* encode.h - encode a request for /v1/messages */
#ifndef PROVIDER_ANTHROPIC_ENCODE_H
#define PROVIDER_ANTHROPIC_ENCODE_H

#include "allm.h"

allm_status anthropic_encode(const allm_call *call, allm_http *out);

#endif
