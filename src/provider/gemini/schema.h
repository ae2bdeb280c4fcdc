/*
 * schema.h - translate a JSON Schema into the subset that Gemini accepts
 *
 * "parameters" and "responseSchema" take a subset of OpenAPI's schemas.  What
 * OpenAPI expresses differently is translated: references are replaced by
 * their targets, "null" becomes "nullable", a constant an enum of one.  What
 * it cannot express is left out and reported as a loss, so that the caller can
 * check it instead.
 */
#pragma once

#include "provider/gemini/schema_losses.h"

/*
 * The adapted schema, in the arena or in the original schema; NULL: out of
 * memory. `ordered`: the model writes properties in the order of the schema.
 */
const allm_json *gemini_schema_adapt(struct arena *a, const allm_json *schema,
                                     bool ordered,
                                     struct gemini_schema_losses losses);
