/* embed.h - the dialect of batchEmbedContents: Google's own */
#ifndef PROVIDER_GEMINI_EMBED_H
#define PROVIDER_GEMINI_EMBED_H

#include "allm.h"

extern const allm_adapter gemini_embed_adapter;

#endif
