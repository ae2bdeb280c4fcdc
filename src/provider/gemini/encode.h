/* encode.h - a request as streamGenerateContent wants it */
#ifndef PROVIDER_GEMINI_ENCODE_H
#define PROVIDER_GEMINI_ENCODE_H

#include "allm.h"

allm_status gemini_encode(const allm_call *call, allm_http *out);

/* Is the answer to keep a schema, and are there tools, too?  Most models
 * refuse both at once. */
bool gemini_needs_finalize(const allm_request *r);

#endif
