/* counts.h - token counts that may be unknown */
#pragma once

#include "allm.h"

/* A member of an object; not set if it is missing, negative or not an
 * integer. */
allm_int counts_at(const allm_json *object, const char *name);

/* The sum of the counts that are known, limited to INT64_MAX. */
allm_int counts_add(allm_int x, allm_int y);
