/* broken.h - an operation of a stored session that was broken off */
#pragma once

#include "allm.h"

/* What was broken off (metadata.broken_off); NULL: nothing. */
const allm_json *broken_of(const allm_session *session);

/* Was an answer of the model recorded before it broke off? */
bool broken_answered(const allm_session *session);

/* Its record `begin` in a list, which the caller frees; NULL: none. */
allm_json *broken_begin(const allm_session *session, allm_store *store);

/*
 * Drop an operation that broke off before an answer arrived, with a note.
 * Returns END_DONE.  After an answer, print the commands that continue it and
 * return END_ASKED.
 */
int broken_drop(allm_session *session);

/* List the unknown calls; returns the id of the first one, NULL: none. */
const char *broken_calls(const allm_session *session, char names[300]);

/* Print which calls are unknown, and the commands that settle them.  Returns
 * END_ASKED. */
int broken_report(const allm_session *session);
