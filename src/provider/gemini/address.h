/* address.h - the URLs of Google's models */
#pragma once

#include "allm.h"
#include "base/buf.h"

/* BASE/models/MODEL:verb?parameter; `parameter` may be NULL.  Returns NULL, or
 * an error. */
const allm_error *gemini_address_write(const allm_call *call, allm_http *http,
                                       const char *verb, const char *parameter);
