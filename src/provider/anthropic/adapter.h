/* adapter.h - the dialect of /v1/messages: Anthropic and its look-alikes */
#ifndef PROVIDER_ANTHROPIC_ADAPTER_H
#define PROVIDER_ANTHROPIC_ADAPTER_H

#include "allm.h"

extern const allm_adapter anthropic_adapter;

#endif
