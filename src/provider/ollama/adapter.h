/* adapter.h - the dialect of /api/chat: Ollama in its own words */
#ifndef PROVIDER_OLLAMA_ADAPTER_H
#define PROVIDER_OLLAMA_ADAPTER_H

#include "allm.h"

extern const allm_adapter ollama_adapter;

#endif
