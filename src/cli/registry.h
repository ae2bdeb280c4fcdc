/* registry.h - find providers and dialects by the name that the user wrote */
#pragma once

#include "allm.h"

/* The list from allm_registry_list(), which is made once. */
const allm_json *registry_list(void);
/* The row after this one, NULL being before the first; NULL: no more. */
const allm_json *registry_next(const allm_json *row);

/* The row of a provider; NULL: it is not known. */
const allm_json *registry_row(const char *name, size_t len);
bool registry_is_http(const allm_json *row);
bool registry_is_keyless(const allm_json *row);
/* Is this the first row of its dialect? */
bool registry_is_first(const allm_json *row);

/* If the provider of this "provider:id" ignores schemas, print a note that
 * names the provider that uses the same server with schemas. */
void registry_note_schema(const char *model);

/* For the end of a message: '; did you mean "x"?', or "". */
const char *registry_hint(const char *name, size_t len);
/* Print that the name is unknown, a similar one, and all known ones.  Returns
 * END_USAGE. */
int registry_reject_dialect(const char *name);
int registry_reject_provider(const char *name, size_t len);

/* Does the provider of this model, "provider:id", fetch images from URLs? */
bool registry_fetches(const char *model, const char *url);
