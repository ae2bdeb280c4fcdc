/*
 * kept.h - the store that keeps the sessions of a scenario
 *
 * A session with an id has this id as its name in the store.  A session
 * without an id gets a generated name, which the scenario does not see.
 */
#pragma once

#include "report.h"

/* Does the file use a store?  If it does and none is given, the runner keeps
 * its sessions in memory:. */
bool kept_is_on(const struct scenario *s);

/* Open the session with this record under a new name, or under its id; NULL:
 * an empty one.  NULL: rejected. */
allm_session *kept_open(struct scenario *s, const allm_session_record *record);

/* Close the store, open it again, and the current session in it.  The caller
 * has freed that session.  NULL: rejected, or there is none. */
allm_session *kept_reopen(struct scenario *s);

/* Read `crash_at`: the store dies at this commit of the operation that follows.
 * False: rejected. */
bool kept_arm(struct scenario *s, const allm_json *op);
/* The operation has ended.  True: the store has died; a crash that did not
 * happen is rejected. */
bool kept_disarm(struct scenario *s);
/* Has the store died, and was not opened again? */
bool kept_is_dead(struct scenario *s);

/* Wait until all that was handed to the store is written; true if that was
 * anything since the last call. */
bool kept_settle(struct scenario *s);

/* Is it the name of a session without an id? */
bool kept_is_hidden(const struct scenario *s, const char *id);

/* Remove this session at the end of the file, too.  False: rejected. */
bool kept_note(struct scenario *s, const char *name);

/* Add the records of the current session to the report. */
void kept_report_records(struct scenario *s, struct report *r,
                         const char *member, uint64_t from, size_t limit);

/* Check all sessions of the file and remove them.  False: rejected. */
bool kept_end(struct scenario *s);
