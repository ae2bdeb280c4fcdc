/* pairs.h - options as an object, or as [[key, value], ...] */
#pragma once

#include "base/arena.h"

/* The object; of equal keys, the first counts.  NULL: it is neither, or out of
 * memory. */
const allm_json *pairs_object(struct arena *a, const allm_json *v);
