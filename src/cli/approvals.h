/*
 * approvals.h - the calls of a session that wait for a decision
 *
 * A session that halted because nobody could be asked lists its calls in
 * metadata.approvals, and the decisions about them in metadata.approved.
 */
#pragma once

#include "cli/approve.h"

/* How many calls wait. */
size_t approvals_count(const allm_json *metadata);
/* Some waited, and all of them are decided, but have not run. */
bool approvals_decided(const allm_json *metadata);
/* The first one; false: there is none.  It is borrowed from the metadata. */
bool approvals_next(const allm_json *metadata, struct approve_call *c);

/* Print which calls wait, and the command that decides, or that runs those that
 * are decided; path is the session, or NULL. */
void approvals_report(const allm_json *metadata, const char *path);
