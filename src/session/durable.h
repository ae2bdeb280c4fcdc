/*
 * durable.h - a session in a store: loaded from its rows, written by commits
 *
 *      store --load--> durable --show--> session record
 *        ^                |
 *        '---- commit ----'   created or taken, then what the caller adds
 */
#pragma once

#include "session/place.h"
#include "session/state.h"

/* Open the session; always an object, or NULL: out of memory. */
allm_session *durable_open(allm_store *store, const char *name, uint32_t flags);
allm_session *durable_claim(allm_store *store, const char *queue,
                            uint32_t wait_ms);

/* After a failed append: load the session again, so that it is as a fresh open
 * would show it.  Does nothing otherwise. */
const allm_error *durable_refresh(allm_session *s, struct arena *a);
/* Load it again in any case. */
const allm_error *durable_reload(allm_session *s, struct arena *a);

/* -------------------------------------------------------------- parts --- */

/* The state of a record as JSON: its data without id and thread. */
const allm_json *durable_state(struct arena *a,
                               const allm_session_record *record);
/* A record from a state and a thread; a root.  NULL: *error says why. */
allm_session_record *durable_record(struct arena *a, const char *name,
                                    const allm_json *state,
                                    const allm_thread *thread,
                                    const allm_error **error);
/* A thread from rows; NULL: *error. */
allm_thread *durable_thread(struct arena *a, const struct store_loaded *l,
                            size_t count, const struct backend_message *rows,
                            const allm_error **error);
/* The same for bodies that are not packed. */
allm_thread *durable_thread_plain(struct arena *a, const struct store_loaded *l,
                                  size_t count,
                                  const struct backend_message *rows,
                                  const allm_error **error);
/* The error of a part that cannot be read. */
const allm_error *durable_unreadable(struct arena *a, const char *name,
                                     const char *what);
/* The JSON value of a packed value or text of the loaded session. */
const allm_json *durable_value(struct arena *a, const struct store_loaded *l,
                               const allm_json *packed,
                               const allm_error **error);
const allm_json *durable_unpack(struct arena *a, const struct store_loaded *l,
                                struct slice text, const allm_error **error);
