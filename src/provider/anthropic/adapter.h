/* adapter.h - the adapter for /v1/messages: Anthropic and compatible servers */
#ifndef PROVIDER_ANTHROPIC_ADAPTER_H
#define PROVIDER_ANTHROPIC_ADAPTER_H

#include "allm.h"

extern const allm_adapter anthropic_adapter;

#endif
