/* keys.h - where keys come from, and which one counts */
#ifndef ENGINE_KEYS_H
#define ENGINE_KEYS_H

#include "allm.h"
#include "base/arena.h"
#include "base/secret.h"

/*
 * Find the key of a provider: put it into *out, which the caller releases, and
 * say where it was found.  Else an error in `tell`: missing_key with what was
 * looked at, never a value.  keys NULL: no store; the call and the environment
 * count.
 */
const allm_error *keys_look_up(const allm_keys *keys, const char *provider,
                               const char *call_key, struct arena *tell,
                               struct secret *out, const char **source);

/* A variable of the environment as the store sees it, in the arena; NULL: it
 * is not set, or no memory. */
const char *keys_env(const allm_keys *keys, const char *name, struct arena *a);

#endif
