/* adapter.h - the scripted model: an adapter that needs no network */
#ifndef PROVIDER_FAKE_ADAPTER_H
#define PROVIDER_FAKE_ADAPTER_H

#include "allm.h"

extern const allm_adapter fake_adapter;

#endif
