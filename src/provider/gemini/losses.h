/* losses.h - what the schemas of a call lose on their way to Gemini */
#ifndef PROVIDER_GEMINI_LOSSES_H
#define PROVIDER_GEMINI_LOSSES_H

#include "allm.h"
#include "provider/extra.h"

/* Does the caller want his schemas sent as they are? */
bool gemini_losses_off(const struct extra *x);

/* The schema that the answer must keep; NULL: none. */
const allm_json *gemini_losses_format(const allm_request *r);

/* The list, in the arena: [{"tool"?, "path", "keyword"}, ...].  False: no
 * memory. */
bool gemini_losses_list(const allm_call *call, struct arena *a,
                        const allm_json **out);

#endif
