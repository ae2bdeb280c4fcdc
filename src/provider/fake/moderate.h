/* moderate.h - moderation results from words or from a script, for tests */
#ifndef PROVIDER_FAKE_MODERATE_H
#define PROVIDER_FAKE_MODERATE_H

#include "allm.h"

extern const allm_adapter fake_moderate_adapter;

#endif
