/* encode.h - encode a request for /api/chat */
#pragma once

#include "allm.h"

allm_status ollama_encode(const allm_call *call, allm_http *out);
