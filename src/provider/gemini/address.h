/* address.h - where Google's models are asked */
#ifndef PROVIDER_GEMINI_ADDRESS_H
#define PROVIDER_GEMINI_ADDRESS_H

#include "allm.h"
#include "base/buf.h"

/* A name of a model in a path: "models/" in front, unless it has a folder. */
void gemini_address_model(struct buf *url, const char *model);

/* BASE/models/MODEL:verb?with; `with` may be NULL.  NULL, or an error. */
const allm_error *gemini_address_write(const allm_call *call, allm_http *http,
                                       const char *verb, const char *with);

#endif
