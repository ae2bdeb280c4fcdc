/* registry.h - providers and dialects by name, for questions of the user */
#ifndef CLI_REGISTRY_H
#define CLI_REGISTRY_H

#include "allm.h"

/* The row of a provider in the list of allm_registry_list(), or NULL. */
const allm_json *registry_row(const allm_json *list, const char *name,
                              size_t len);
const char *registry_text(const allm_json *row, const char *key);
bool registry_is_http(const allm_json *row);
bool registry_is_keyless(const allm_json *row);

/* A note, if the provider of this "provider:id" ignores schemas: which one asks
 * the same server and does not. */
void registry_note_schema(const char *model);

/* Tell that nobody is called so, what is near, and who is known.  Gives
 * END_USAGE. */
int registry_reject_dialect(const allm_json *list, const char *name);
int registry_reject_provider(const allm_json *list, const char *name,
                             size_t len);

#endif
