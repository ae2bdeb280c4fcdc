/* embed.h - embeddings computed from the words of a text, for tests */
#ifndef PROVIDER_FAKE_EMBED_H
#define PROVIDER_FAKE_EMBED_H

#include "allm.h"

extern const allm_adapter fake_embed_adapter;

#endif
