/*
 * allm_store.h - sessions in a database, recorded step by step
 *
 *    1  Stores                open, close
 *    2  Sessions in a store   open, claim, resume, settle, abandon, fork
 *    3  Looking at a store    list, records, follow, verify
 *    4  From another process  send, cancel, remove, prune
 *
 * A session in a store survives kill -9 and power loss.  Each step of an
 * operation is recorded before it takes effect: the request to the model, the
 * intent to run a tool, its result, the end of the turn.  After a crash,
 * allm_session_resume() continues from these records.  A tool whose result is
 * recorded does not run again; a tool with the effect `write` that began and
 * has no result is unknown and waits for allm_session_settle().
 *
 * docs/sessions.md is an introduction, docs/stores.md explains how to choose
 * and operate a store, docs/session-format.md documents the records.
 */
#ifndef ALLM_STORE_H
#define ALLM_STORE_H

#include "allm_session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------ 1  Stores --- */

/*
 * An open store.  Any thread may use it.  It is reference-counted: its
 * sessions and streams keep it open after allm_store_free().  After fork(),
 * the child can only free it; everything else fails with store_forked.
 */
typedef struct allm_store allm_store;

/* The flags of allm_store_opts. */
typedef enum allm_store_flags {
    ALLM_STORE_READ      = 1 << 0,    /* open for reading only              */
    ALLM_STORE_NO_CREATE = 1 << 1     /* a missing store is an error        */
} allm_store_flags;

/* The options of a store. */
typedef struct allm_store_opts {
    size_t      size;
    uint32_t    flags;                /* ALLM_STORE_...                     */
    uint32_t    lease_ms;             /* 0: 30,000; PostgreSQL only         */
    uint32_t    busy_ms;              /* 0: 10,000; how long to wait for a
                                         lock of the database               */
    uint32_t    live_ms;              /* 0: 100; how long events wait to be
                                         written for followers together;
                                         UINT32_MAX: none are written       */
    uint32_t    reserved;
    const char *holder;               /* a name for people; NULL: host:pid  */
    const allm_allocator *allocator;
    /*
     * Called in the store's thread right before commit number `count` of this
     * handle (durable false), and right after it (durable true).  A status < 0
     * makes this handle dead from here on, as kill -9 would: it writes and
     * releases nothing in the database any more, and freeing it only closes
     * its descriptors.
     */
    allm_status (*on_commit)(void *ud, uint64_t count, bool durable);
    void       *on_commit_ud;
} allm_store_opts;

/*
 * Opens a store:
 *
 *   memory:                 in this process; gone with its last handle
 *   memory:NAME             the same, shared by all handles of this process
 *                           that use this name
 *   sqlite:PATH             a file, created on first use
 *   postgresql://...        a server; every URI that libpq accepts
 *
 * The caller frees it.  A store that could not be opened has an error; a
 * password in the URI never appears in it.
 */
ALLM_API allm_store *allm_store_open(const char *uri, const allm_store_opts *);
/*
 * Why the store could not be opened, or why the last call on this store by
 * this thread failed.  NULL: no error.
 */
ALLM_API const allm_error *allm_store_error(const allm_store *);
/* Drops the caller's reference, after all changes under way are durable. */
ALLM_API void allm_store_free(allm_store *);

/* ---------------------------------------------- 2  Sessions in a store --- */

/*
 * Opens a session by its name: 1 to 128 letters, digits, `_`, `-` or `:`.
 * flags: ALLM_SESSION_LOCK holds the session, which every change needs; at
 * most one handle holds a session at a time (session_locked).  With
 * ALLM_SESSION_CREATE, which implies the lock, a missing session is created
 * with its first change.  Without the lock the session can only be read
 * (session_read_only).  All functions for sessions work on the result and
 * record every change before they return.
 *
 * If an operation was broken off, metadata.broken_off says so, and every
 * change except resume, settle and abandon is rejected (turn_unfinished).
 */
ALLM_API allm_session *allm_session_open(allm_store *, const char *name,
                                         uint32_t flags);

/*
 * Holds the oldest due session of a queue, waiting up to wait_ms for one.  If
 * there is none, the session has the error nothing_due.
 */
ALLM_API allm_session *allm_session_claim(allm_store *, const char *queue,
                                          uint32_t wait_ms);

/*
 * Continues the operation that was broken off, with the recorded options where
 * opts sets none; or, if none is open, begins an operation with the messages
 * that were sent.  Functions, keys, the context, time limits and the options of
 * a provider are not recorded: pass them again.  If there is nothing to do, the
 * stream has failed with nothing_to_resume; if a tool call is unknown, with
 * unsettled_tool_calls.
 */
ALLM_API allm_stream *allm_session_resume(const allm_engine *, allm_session *,
                                          const allm_call_opts *);

/* What happened to an unknown tool call. */
typedef enum allm_settle {
    ALLM_SETTLE_HAPPENED,             /* it took effect; needs an answer    */
    ALLM_SETTLE_NOT_HAPPENED,         /* it did not; the model is told so   */
    ALLM_SETTLE_AGAIN                 /* resume runs it again               */
} allm_settle;

/* Settles one unknown tool call.  The answer is for HAPPENED only. */
ALLM_API allm_status allm_session_settle(allm_session *,
                                         const char *tool_call_id,
                                         allm_settle how,
                                         const allm_tool_answer *answer);

/*
 * Ends the broken-off operation as if it had been cancelled.  Calls that had
 * begun are listed in metadata.interrupted_tool_calls.
 */
ALLM_API allm_status allm_session_abandon(allm_session *);

/*
 * Releases the session with its operation still open; its stream ends with
 * session_released.  The next holder can resume at once.
 */
ALLM_API allm_status allm_session_let_go(allm_session *);

/*
 * Creates a new session with the messages and state after record seq, which
 * must be of type created, change, turn or end; seq 0: after the last such
 * record.  allm_store_error() has the reason of a failure.
 */
ALLM_API allm_status allm_session_fork(const allm_session *, uint64_t seq,
                                       const char *name);

/*
 * The session as it was after record seq (0: the last one), to be read; the
 * caller frees it.  It is a value: changes to it do not reach the store.
 */
ALLM_API allm_session *allm_session_at(const allm_session *, uint64_t seq);

/* ----------------------------------------------- 3  Looking at a store --- */

/* Which sessions.  All zero: all, the 50 changed last. */
typedef struct allm_store_query {
    size_t      size;
    const char *words;                /* all of them in one message; slow:
                                         reads every session                */
    const char *status;               /* "idle", "awaiting_user", ...       */
    const char *waits;                /* "user", "tools", "unknown", "stuck" */
    const char *queue;
    const char *after;                /* the name that ended the last page  */
    uint64_t    older_ms;             /* not changed for so long            */
    uint32_t    limit;
    uint32_t    reserved;
} allm_store_query;

/*
 * Lists sessions, the one changed last first: {"sessions": [{"name", "uid",
 * "status", "waits", "broken_off", "holder", "model", "messages", "created",
 * "changed", "title"}], "more": bool}.  A session that has only messages that
 * were sent, and no record yet, is not listed.  The caller frees the result,
 * here and below; NULL on failure, see allm_store_error().
 */
ALLM_API allm_json *allm_store_list(allm_store *, const allm_store_query *);

/*
 * The records of a session from number `from` on, at most `limit` (0: all), as
 * an array; each has its `sum` as the last member.
 */
ALLM_API allm_json *allm_store_records(allm_store *, const char *name,
                                       uint64_t from, size_t limit);

/* The flags of allm_store_follow(). */
typedef enum allm_follow_flags {
    ALLM_FOLLOW_ONE = 1 << 0          /* until the end of one operation     */
} allm_follow_flags;

/*
 * Follows a session that any process runs: a stream of its events, to be
 * pulled or added to a hub.  Each event has a cursor "SEQ.N": the record with
 * which its operation began, and its number there.  A stream that follows from
 * this cursor yields what comes after it.  Without a cursor (NULL) it begins
 * with the operation that runs, or else with the next one; "0": with the first
 * record; "SEQ": after a session that was read when this was its last record.
 *
 * session_changed reports each record that creates or changes the session, or
 * begins or ends an operation.  The events of an operation are kept until the
 * next one begins; of older ones the answers and tool results are reported.  A
 * cursor among events that are gone fails with cursor_gone: continue from
 * "SEQ".  A message_started replaces a message that was not completed.
 *
 * The stream does not end by itself without ALLM_FOLLOW_ONE.  The caller frees
 * it; that cancels nothing.
 */
ALLM_API allm_stream *allm_store_follow(allm_store *, const char *name,
                                        const char *cursor, uint32_t flags);

/*
 * Checks one session (NULL: all): sums, hashes, rows against records, and the
 * database's own check.  {"ok": bool, "sessions": n, "records": n, "faults":
 * [{"session", "seq", "what"}]}.
 */
ALLM_API allm_json *allm_store_verify(allm_store *, const char *name);

/* The SQL that creates the tables of this store; "" for memory stores. */
ALLM_API const char *allm_store_schema(const allm_store *);

/* ---------------------------------------------- 4  From another process --- */

/*
 * Leaves a user message for a session, which need not exist.  Its holder takes
 * it between two operations with allm_session_resume().  A queue makes the
 * session claimable; NULL leaves its queue as it is.
 */
ALLM_API allm_status allm_store_send(allm_store *, const char *name,
                                     const allm_message *, const char *queue);

/* Cancels the operation that runs in a session; if nobody holds the session,
 * it is abandoned. */
ALLM_API allm_status allm_store_cancel(allm_store *, const char *name);

/* Removes a session and every trace of it.  A session that is held is not
 * removed (session_locked). */
ALLM_API allm_status allm_store_remove(allm_store *, const char *name);

/* The flags of allm_store_prune(). */
typedef enum allm_prune_flags {
    ALLM_PRUNE_JOURNAL = 1 << 0,      /* keep the session, not its history  */
    ALLM_PRUNE_LOOK = 1 << 1          /* change nothing                     */
} allm_prune_flags;

/*
 * Removes the sessions that the query selects, never one that is held, broken
 * off or waiting: {"removed": [names]}.  With ALLM_PRUNE_JOURNAL only the
 * records of their complete operations go, and what only these refer to: the
 * conversation stays, but it can no longer be forked or followed from there.
 */
ALLM_API allm_json *allm_store_prune(allm_store *, const allm_store_query *,
                                     uint32_t flags);

#ifdef __cplusplus
}
#endif
#endif
