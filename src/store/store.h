/*
 * store.h - an open store, and the sessions that are held in it
 *
 * session/ builds appends and submits them; the store's thread makes them
 * durable, many at a time (group commit).  Functions that return an error wait
 * for the thread; the error is in the arena `a`.
 */
#pragma once

#include "loop/waker.h"
#include "store/backend.h"
#include "store/record.h"

/* ---------------------------------------------------------- the store --- */

allm_store *store_keep(allm_store *s);
void store_drop(allm_store *s);     /* a reference, without waiting */
struct mem store_mem(const allm_store *s);
uint32_t store_live_ms(const allm_store *s);

/* NULL; or why no call can succeed: it was refused, or this process is a child
 * of fork(). */
const allm_error *store_usable(const allm_store *s, struct arena *a);

/* The same for a call that changes the store: it may be open only to be
 * read. */
const allm_error *store_writable(const allm_store *s, struct arena *a);

/* Remember the error for allm_store_error() of this thread; its kind. */
allm_status store_fail(allm_store *s, const allm_error *error);

/* Call a function in the store's thread, and wait for it. */
const allm_error *store_call(allm_store *s,
                             const allm_error *(*fn)(struct backend *b,
                                                     struct arena *a, void *ud),
                             struct arena *a, void *ud);

/*
 * A call that nobody waits for.  Its arena has room for what the function
 * needs.  Start it; done() then tells whether it has ended, and why it failed;
 * the waker is rung at the end.  Free it at any time: one that was started
 * still runs.
 */
struct store_task;
struct store_session;

struct store_task *store_task_new(allm_store *s);       /* or NULL */
struct arena *store_task_arena(struct store_task *t);
void store_task_start(struct store_task *t,
                      const allm_error *(*fn)(struct backend *b,
                                              struct arena *a, void *ud),
                      void *ud, allm_waker *waker);
bool store_task_done(struct store_task *t, const allm_error **error);
void store_task_free(struct store_task *t);
/* Write events for followers; the task is freed. */
void store_task_live(struct store_task *t, struct store_session *session,
                     const struct backend_live *live);

/* Someone who waits for changes of the store.  Any field is set by the
 * store. */
struct store_follower {
    struct store_follower *next;
    allm_waker *waker;
    bool changed;               /* under the lock */
};

/* Ring the waker after changes, until unfollow.  A store without a thread does
 * not: *poll_ms is then how long to wait before looking again, else 0. */
void store_follow(allm_store *s, struct store_follower *f, allm_waker *waker,
                  uint32_t *poll_ms);
void store_unfollow(allm_store *s, struct store_follower *f);
/* Has anything changed since the last call? */
bool store_follower_news(allm_store *s, struct store_follower *f);

/* NULL, or invalid_name. */
const allm_error *store_check_name(struct arena *a, const char *name);

/* A new random uid, in hex. */
void store_make_uid(char out[STORE_UID_LEN + 1]);

/* --------------------------------------------- a session that is open --- */

/*
 * One session of a store, held (it may be changed) or only read.  It is
 * reference-counted.  When the last reference is dropped, the lease is released
 * behind the appends under way.  One thread at a time uses it, like the session
 * it belongs to.
 */
struct store_session;

/* A session as it was loaded: its row, the thread, the records from row.open
 * on, and what waits in its inbox.  All in the arena; bodies are packed. */
struct store_loaded {
    struct backend_row row;
    enum backend_after after;
    size_t message_count;
    struct backend_message *messages;
    size_t record_count;
    struct backend_record *records;
    size_t sent_count;
    struct backend_sent *sent;      /* their bodies are not packed */
    size_t blob_count;
    struct backend_blob *blobs;     /* all that these refer to */
};

/* Open by name; flags are those of allm_session_open().  Sums and hashes of
 * all that is loaded are checked.  A read-only session has *out, too. */
const allm_error *store_session_open(allm_store *s, struct arena *a,
                                     const char *name, uint32_t flags,
                                     struct store_loaded *loaded,
                                     struct store_session **out);
const allm_error *store_session_claim(allm_store *s, struct arena *a,
                                      const char *queue, uint32_t wait_ms,
                                      struct store_loaded *loaded,
                                      struct store_session **out);
/* Load it again, as it is in the store now; the lease stays. */
const allm_error *store_session_reload(struct store_session *t, struct arena *a,
                                       struct store_loaded *loaded);
/* In the store's thread: read messages of the session l->row, and check their
 * hashes. */
const allm_error *store_read_messages(struct backend *b, struct arena *a,
                                      const struct store_loaded *l,
                                      struct backend_range range, size_t *count,
                                      struct backend_message **out);
/* In the store's thread: read these blobs of the session l->row.  One that is
 * missing is no damage here: a text may only look as if it referred to it.
 * Unpacking tells. */
const allm_error *store_read_blobs(struct backend *b, struct arena *a,
                                   struct store_loaded *l,
                                   struct record_blobs *blobs);
/* In the store's thread: does the session have another head than this row? */
bool store_row_has_moved(struct backend *b, struct arena *a,
                         const struct backend_row *row);
struct slice store_loaded_blob(const struct store_loaded *l, const char *hash);

/* Wait until no handle of this process is still about to release a session of
 * this name, which was dropped.  In the caller's thread. */
void store_session_await(const allm_store *s, const char *name);

struct store_session *store_session_keep(struct store_session *t);
void store_session_drop(struct store_session *t);

allm_store *store_session_store(const struct store_session *t);
const char *store_session_name(const struct store_session *t);
const char *store_session_uid(const struct store_session *t);
uint64_t store_session_epoch(const struct store_session *t);
bool store_session_is_held(const struct store_session *t);
/* The seq of the newest record that was submitted. */
uint64_t store_session_head(const struct store_session *t);

/* Ring this waker when the session is lost, cancelled by another process, or
 * an append of it is durable; NULL: nobody. */
void store_session_watch(struct store_session *t, allm_waker *waker);
/* Why it cannot be changed any more (session_lost, session_released ...), or
 * NULL. */
const allm_error *store_session_gone(const struct store_session *t,
                                     struct arena *a);
/* Has another process cancelled the operation that began with this seq? */
bool store_session_cancelled(const struct store_session *t, uint64_t begin);

/* Release it now, behind what is under way; `due`: claimable at once. */
const allm_error *store_session_release(struct store_session *t,
                                        struct arena *a, bool due);

/* ------------------------------------------------------------ appends --- */

/*
 * One commit of one session, built and then submitted.  Builders remember a
 * failure: it shows when the append is submitted.
 */
struct store_append;

struct store_append *store_append_new(struct store_session *t);  /* or NULL */
struct arena *store_append_arena(struct store_append *p);

/* Begin a record; add its members to the emit, in their order; then close it.
 * Returns its seq by *seq, unless that is NULL. */
struct emit *store_append_open(struct store_append *p, const char *type,
                               uint64_t *seq);
void store_append_close(struct store_append *p);

/* A member of the open record, long strings as blobs: a value; a string.  Both
 * are copied. */
void store_append_value(struct store_append *p, const char *name,
                        const allm_json *v);
void store_append_text(struct store_append *p, const char *name,
                       struct slice text);
/* Text of a value that the caller has written to the emit since its buffer had
 * `from` bytes: long strings become blobs. */
void store_append_pack(struct store_append *p, size_t from);
/* "keep" (unless all_so_far) and "add" of the open record: the first `keep`
 * messages stay, these follow.  Bodies are JSON texts in the append's arena;
 * their long strings become blobs. */
void store_append_thread(struct store_append *p, bool all_so_far, uint64_t keep,
                         size_t count, struct buf *bodies);

/* The columns as they shall be; filled from the last append at first. */
struct backend_append *store_append_columns(struct store_append *p);

/* Hand it over; nothing may be added afterwards. */
void store_append_submit(struct store_append *p);
/* AGAIN: under way.  OK: durable.  < 0: it was not written; *error, valid as
 * long as the append. */
allm_status store_append_status(struct store_append *p,
                                const allm_error **error);
/* The same, after waiting for it. */
allm_status store_append_wait(struct store_append *p, const allm_error **error);
/* At any time: an append that was submitted is still written; one that was not
 * is forgotten, and the next one takes its place. */
void store_append_free(struct store_append *p);
