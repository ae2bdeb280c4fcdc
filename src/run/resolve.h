/* resolve.h - resolve the fields of a request by precedence */
#pragma once

#include "base/home.h"
#include "engine/engine.h"

/*
 * Set the fields of a request from the call, the request and the engine, in
 * this order of precedence.  `d` has the engine's params.  Tools of the call
 * are copied into the home.  Returns NULL, or the error.
 */
const allm_error *resolve_request(allm_request *r, const allm_engine *e,
                                  const struct options *o,
                                  const struct options *d,
                                  struct allm_home *home);

/* The same, without the tools. */
void resolve_fields(allm_request *r, const allm_engine *e,
                    const struct options *o, const struct options *d);

/* Replace a list of tools, which belong to the caller, by copies in the home.
 * Returns NULL, or the error. */
const allm_error *resolve_copy_tools(struct allm_home *home, size_t count,
                                     const allm_tool *const **tools);
