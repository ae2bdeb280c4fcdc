/* resolve.h - the fields of a request by precedence */
#ifndef RUN_RESOLVE_H
#define RUN_RESOLVE_H

#include "base/home.h"
#include "engine/engine.h"

/*
 * Fill in the fields of a request: call, request, engine, in this order.  d is
 * what the engine's params say.  Tools of the call are copied into the home.
 * False: *error is set, or left as it was for lack of memory.
 */
bool resolve_request(allm_request *r, const allm_engine *e,
                     const struct options *o, const struct options *d,
                     struct allm_home *home, const allm_error **error);

/* The same without the tools. */
void resolve_fields(allm_request *r, const allm_engine *e,
                    const struct options *o, const struct options *d);

#endif
