/* resolve.h - resolve the fields of a request by precedence */
#ifndef RUN_RESOLVE_H
#define RUN_RESOLVE_H

#include "base/home.h"
#include "engine/engine.h"

/*
 * Set the fields of a request from the call, the request and the engine, in
 * this order of precedence.  `d` has the engine's params.  Tools of the call
 * are copied into the home.  False: *error is set, or unchanged if out of
 * memory.
 */
bool resolve_request(allm_request *r, const allm_engine *e,
                     const struct options *o, const struct options *d,
                     struct allm_home *home, const allm_error **error);

/* The same, without the tools. */
void resolve_fields(allm_request *r, const allm_engine *e,
                    const struct options *o, const struct options *d);

#endif
