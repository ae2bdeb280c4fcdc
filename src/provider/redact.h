/* redact.h - keys taken out of errors that others wrote */
#ifndef PROVIDER_REDACT_H
#define PROVIDER_REDACT_H

#include "base/redact.h"

/* A copy of the error, all of it in the arena, its texts and values redacted;
 * the static error for lack of memory. */
const allm_error *redact_error(struct arena *a, const allm_error *error,
                               struct slice key);

#endif
