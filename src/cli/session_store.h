/*
 * session_store.h - the store of sessions: --store, ALLM_STORE, the setting
 * `store`, or a file
 *
 * The file is $XDG_DATA_HOME/allm/sessions.db.  It is created, with its folder,
 * when the first session is stored.
 */
#pragma once

#include "allm.h"

/*
 * Open the store; URI NULL: that of ALLM_STORE, else the file.  flags are
 * ALLM_STORE_...; lease_ms 0: the default.  END_DONE, or an exit code after an
 * error was printed.  The caller frees *store in both cases.
 */
int session_store_open(allm_store **store, const char *uri, uint32_t flags,
                       uint32_t lease_ms);

/* Print the SQL of the tables; the store need not be there.  Returns the exit
 * code. */
int session_store_schema(const char *uri);

/* Is there a store?  False only for a file that is not there yet. */
bool session_store_exists(const char *uri);

/* Write which store is used, without a password. */
void session_store_describe(const char *uri, char *text, size_t size);

/* Print an error of a store or session; returns its exit code. */
int session_store_fail(const allm_error *error);
