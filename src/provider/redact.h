/* redact.h - remove keys from errors and from responses */
#pragma once

#include "base/redact.h"

/* A copy of the error in the arena, with its strings and values redacted.  If
 * out of memory, the static error. */
const allm_error *redact_error(struct arena *a, const allm_error *error,
                               struct slice key);

/*
 * The metadata of a successful response without the key; `v` itself if it does
 * not contain the key.  Only the literal key is removed, and only if it is too
 * long to be part of an ordinary name: a correct response must not be changed.
 * An empty object if the rest is not valid JSON; NULL: out of memory.
 */
const allm_json *redact_answer(struct arena *a, const allm_json *v,
                               struct slice key);
