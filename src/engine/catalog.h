/* catalog.h - the capabilities and prices of models */
#pragma once

#include "allm.h"
#include "base/arena.h"

/* Like allm_catalog_find(), but distinguishes an unknown model (true, *out is
 * NULL) from lack of memory (false). */
bool catalog_find(const allm_catalog *c, const char *spelling,
                  const allm_model_ref **out);

/*
 * Can the model do what the request needs?  NULL, or an error in the arena:
 * unsupported_capability with all (path, reason) pairs, in a fixed order.  A
 * capability that the catalog does not mention counts as supported, and so does
 * everything if ref is NULL.
 */
const allm_error *catalog_preflight(const allm_model_ref *ref,
                                    const allm_request *request,
                                    struct arena *a);
const allm_error *catalog_preflight_image(const allm_model_ref *ref,
                                          const allm_image_request *request,
                                          struct arena *a);

/* Does the catalog say that the model takes no images? */
bool catalog_is_blind(const allm_model_ref *ref);

/* Compute the costs that are not set yet from the tokens and the prices. */
void catalog_costs(allm_usage *usage, const allm_model_ref *ref);
