/* embed.h - the dialect of /embeddings, which most servers support */
#ifndef PROVIDER_OPENAI_EMBED_H
#define PROVIDER_OPENAI_EMBED_H

#include "allm.h"

extern const allm_adapter openai_embed_adapter;

#endif
