/* encode.h - encode a request for /v1/messages */
#pragma once

#include "allm.h"

allm_status anthropic_encode(const allm_call *call, allm_http *out);
