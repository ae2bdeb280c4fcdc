/* embed.h - the adapter for batchEmbedContents: Google's native API */
#ifndef PROVIDER_GEMINI_EMBED_H
#define PROVIDER_GEMINI_EMBED_H

#include "allm.h"

extern const allm_adapter gemini_embed_adapter;

#endif
