/* catalog.h - what models can do and cost */
#ifndef ENGINE_CATALOG_H
#define ENGINE_CATALOG_H

#include "allm.h"
#include "base/arena.h"

/* As allm_catalog_find(), which cannot tell a model that is not there (NULL)
 * from lack of memory (false). */
bool catalog_find(const allm_catalog *c, const char *spelling,
                  const allm_model_ref **out);

/*
 * Does the model do what the request needs?  NULL, or an error in the arena:
 * unsupported_capability with every (path, reason), in a fixed order.  What
 * the catalog does not say is no objection; neither is ref NULL.
 */
const allm_error *catalog_preflight(const allm_model_ref *ref,
                                    const allm_request *request,
                                    struct arena *a);
const allm_error *catalog_preflight_image(const allm_model_ref *ref,
                                          const allm_image_request *request,
                                          struct arena *a);

/* Fill in the costs that are not set yet, from the tokens and the prices. */
void catalog_costs(allm_usage *usage, const allm_model_ref *ref);

#endif
