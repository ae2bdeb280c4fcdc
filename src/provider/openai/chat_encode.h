/* chat_encode.h - encode a request for /chat/completions */
#pragma once

#include "allm.h"

allm_status openai_chat_encode(const allm_call *call, allm_http *out);
