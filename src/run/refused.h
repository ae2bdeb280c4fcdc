/* refused.h - a stream for a call that is rejected before it begins */
#pragma once

#include "allm.h"

/* A stream that fails with a copy of this error; `e` may be NULL.  NULL: out of
 * memory. */
allm_stream *refused_stream(const allm_engine *e, const allm_error *error);

/* The same for a NULL argument: invalid_engine if the engine is NULL, else a
 * ValidationError with this reason about the argument `name`. */
allm_stream *refused_missing(const allm_engine *e, const char *reason,
                             const char *name);
