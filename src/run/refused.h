/* refused.h - a stream that failed before it began */
#ifndef RUN_REFUSED_H
#define RUN_REFUSED_H

#include "allm.h"

/* A stream of the engine, if there is one, whose error is a copy of this one;
 * NULL: no memory. */
allm_stream *refused_stream(const allm_engine *e, const allm_error *error);

/* The same for a call with a NULL argument: the engine (invalid_engine), or
 * else the one called `name`, a ValidationError with this reason. */
allm_stream *refused_missing(const allm_engine *e, const char *reason,
                             const char *name);

#endif
