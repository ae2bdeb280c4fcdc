/* embed.h - vectors made of the texts alone, for tests */
#ifndef PROVIDER_FAKE_EMBED_H
#define PROVIDER_FAKE_EMBED_H

#include "allm.h"

extern const allm_adapter fake_embed_adapter;

#endif
