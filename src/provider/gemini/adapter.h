/* adapter.h - the dialect of streamGenerateContent: Google's own */
#ifndef PROVIDER_GEMINI_ADAPTER_H
#define PROVIDER_GEMINI_ADAPTER_H

#include "allm.h"

extern const allm_adapter gemini_adapter;

#endif
