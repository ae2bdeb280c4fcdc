/* redact.h - keys taken out of texts that others wrote */
#ifndef PROVIDER_REDACT_H
#define PROVIDER_REDACT_H

#include "base/arena.h"

/*
 * The text with every occurrence of the key, and whatever looks like a key of
 * a known provider, replaced by "[REDACTED]".  The text itself if there is
 * none; NULL: no memory.
 */
const char *redact_text(struct arena *a, const char *text, struct slice key);

/* A copy of the error, all of it in the arena, its texts and values redacted;
 * the static error for lack of memory. */
const allm_error *redact_error(struct arena *a, const allm_error *error,
                               struct slice key);

#endif
