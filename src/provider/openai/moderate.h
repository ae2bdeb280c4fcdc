/* moderate.h - the dialect of /moderations */
#ifndef PROVIDER_OPENAI_MODERATE_H
#define PROVIDER_OPENAI_MODERATE_H

#include "allm.h"

extern const allm_adapter openai_moderate_adapter;

#endif
