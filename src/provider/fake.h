/* fake.h - a scripted model: an adapter that needs no network */
#ifndef PROVIDER_FAKE_H
#define PROVIDER_FAKE_H

#include "allm_ext.h"

extern const allm_adapter fake_adapter;

#endif
