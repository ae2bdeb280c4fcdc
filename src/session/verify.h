/* verify.h - check the log of a session against its rows */
#pragma once

#include "store/store.h"

/* Check one session, or all if name is NULL, and run the database's own check.
 * *out is the result of allm_store_verify(), in the arena. */
const allm_error *verify_store(allm_store *s, struct arena *a, const char *name,
                               const allm_json **out);
