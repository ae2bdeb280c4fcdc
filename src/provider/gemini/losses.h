/* losses.h - what is lost when the schemas of a call are sent to Gemini */
#pragma once

#include "allm.h"
#include "provider/extra.h"

/* Does the caller want schemas to be sent unchanged? */
bool gemini_losses_off(const struct extra *x);

/* The list, in the arena: [{"tool"?, "path", "keyword"}, ...].  False: out of
 * memory. */
bool gemini_losses_list(const allm_call *call, struct arena *a,
                        const allm_json **out);
