/* adapter.h - the adapter for /api/chat: Ollama's native API */
#ifndef PROVIDER_OLLAMA_ADAPTER_H
#define PROVIDER_OLLAMA_ADAPTER_H

#include "allm.h"

extern const allm_adapter ollama_adapter;

#endif
