/* keys.h - the sources of API keys, in the order of their precedence */
#pragma once

#include "allm.h"
#include "base/arena.h"
#include "base/secret.h"

/*
 * Find the key of a provider.  It is put into *out, which the caller releases;
 * *source says where it was found.  Otherwise, an error in the arena `errors`:
 * missing_key with the sources that were checked, never a value.  If the key is
 * optional and missing, there is no error, and *source is NULL.  If keys is
 * NULL, only the call's key and the environment are checked.
 */
const allm_error *keys_look_up(const allm_keys *keys, const char *provider,
                               const char *call_key, bool optional,
                               struct arena *errors, struct secret *out,
                               const char **source);

/* An environment variable as the store sees it, in the arena.  NULL: it is not
 * set, or out of memory. */
const char *keys_env(const allm_keys *keys, const char *name, struct arena *a);
