/* address.h - the URLs of Google's models */
#ifndef PROVIDER_GEMINI_ADDRESS_H
#define PROVIDER_GEMINI_ADDRESS_H

#include "allm.h"
#include "base/buf.h"

/* Append the model's name as a path: prefixed by "models/", unless it contains
 * a slash. */
void gemini_address_model(struct buf *url, const char *model);

/* BASE/models/MODEL:verb?parameter; `parameter` may be NULL.  Returns NULL, or
 * an error. */
const allm_error *gemini_address_write(const allm_call *call, allm_http *http,
                                       const char *verb, const char *parameter);

#endif
