/* redact.h - keys taken out of what others wrote: errors, and good answers */
#ifndef PROVIDER_REDACT_H
#define PROVIDER_REDACT_H

#include "base/redact.h"

/* A copy of the error, all of it in the arena, its texts and values redacted;
 * the static error for lack of memory. */
const allm_error *redact_error(struct arena *a, const allm_error *error,
                               struct slice key);

/*
 * What a good answer says of itself, without the key; the value itself if it
 * is not there.  Only the key, literally, and only one that is long enough to
 * be no part of a name: an answer that is right must not be changed.  An empty
 * object where a value without it is no JSON; NULL: no memory.
 */
const allm_json *redact_answer(struct arena *a, const allm_json *v,
                               struct slice key);

#endif
