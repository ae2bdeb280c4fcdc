/*
 * commit.h - the commits of a session in a store
 *
 *      begin --> records: open, members, close --> finish, or leave
 */
#pragma once

#include "session/durable.h"

/* Begin a commit: with `created` or `taken`, if they are missing.  NULL: out
 * of memory. */
struct store_append *commit_begin(struct place *d);

/* The number that the next record gets, when a commit was begun. */
uint64_t commit_next_seq(const struct place *d);

/* The whole record `created`; `from` and `seq` name the session that was
 * forked, or are NULL and 0. */
bool commit_created(struct place *d, struct store_append *p, const char *from,
                    uint64_t seq, const allm_thread *thread,
                    const allm_session_record *record);

/* "keep" and "add" of the open record, so that the thread becomes this one.
 * `extends`: the record has no "keep".  False: out of memory. */
bool commit_thread(struct place *d, struct store_append *p,
                   const allm_thread *thread, bool extends);
/* "state" of the open record, and the columns that follow from it. */
bool commit_state(struct store_append *p, const allm_session_record *record);

/* Submit a commit and wait for it; frees it.  On an error the session is
 * stale. */
const allm_error *commit_finish(struct place *d, struct store_append *p,
                                struct arena *a);
/* Submit it without waiting; frees it. */
void commit_leave(struct place *d, struct store_append *p);

/* Write a change that the caller made: `by` is "append", "submit"... */
const allm_error *commit_change(struct place *d, const char *by,
                                const allm_session_record *record,
                                struct arena *a);
