/* adapter.h - the adapter for streamGenerateContent: Google's native API */
#ifndef PROVIDER_GEMINI_ADAPTER_H
#define PROVIDER_GEMINI_ADAPTER_H

#include "allm.h"

extern const allm_adapter gemini_adapter;

#endif
