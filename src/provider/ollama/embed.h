/* embed.h - the adapter for /api/embed: Ollama's native API */
#ifndef PROVIDER_OLLAMA_EMBED_H
#define PROVIDER_OLLAMA_EMBED_H

#include "allm.h"

extern const allm_adapter ollama_embed_adapter;

#endif
