/* encode.h - encode a request for /api/chat */
#ifndef PROVIDER_OLLAMA_ENCODE_H
#define PROVIDER_OLLAMA_ENCODE_H

#include "allm.h"

allm_status ollama_encode(const allm_call *call, allm_http *out);

#endif
