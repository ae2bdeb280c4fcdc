/* responses.h - the dialect of /responses: OpenAI and compatible servers */
#ifndef PROVIDER_OPENAI_RESPONSES_H
#define PROVIDER_OPENAI_RESPONSES_H

#include "allm.h"

extern const allm_adapter openai_responses_adapter;

#endif
