/* target_key.h - the key for a call, and only for its own address */
#pragma once

#include "cli/model_name.h"

/*
 * A store with the key for this provider, in this order: the key of this name
 * (or NULL), the setting providers.NAME.key, the levels of the library,
 * keys.json.  A key of a known provider never goes to an address that the user
 * gave to another provider, and none goes to one that a project set.  *code is
 * END_DONE, END_KEY if there is none (nothing was printed), or another one
 * after an error was printed.  The caller frees the store.
 */
allm_keys *target_key_store(const struct model_name *m, const char *name,
                            int *code);

/* Does providers.NAME.key count for this model? */
bool target_key_is_set(const struct model_name *m);

/* Does a project's file set the address of this model? */
bool target_key_foreign(const struct model_name *m);

/* Where the variables and files of the library have a key; NULL: nowhere. */
int target_key_find(const allm_keys *keys, const char *provider,
                    const char **source);
