/*
 * backend.h - what a database does for a store
 *
 * A backend is a table of functions.  The store's thread calls them, one at a
 * time, and they may block; those of memory.c are called by the caller's
 * thread, under the store's lock, and never block.
 *
 * Functions return NULL, or an error in the arena `a`, in which their results
 * are, too.  A backend never decides what a record means: it compares, stores
 * and finds.
 */
#pragma once

#include "allm_store.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"

enum { STORE_UID_LEN = 32, STORE_SUM_LEN = 32, STORE_HASH_LEN = 64 };

/* No session is due later than that.  A time beyond it is that of a clock which
 * was set back since; the session is due now. */
enum { BACKEND_MOST_DELAY_MS = 60000 };

/*
 * A session that was taken and got no record since is tried again so often,
 * each time 2^tries seconds after the last one; then it waits as "stuck" until
 * somebody opens and changes it.
 */
enum { BACKEND_MOST_TRIES = 5 };
#define BACKEND_STUCK "stuck"

/* What a session waits for that may be claimed: a message is the answer.
 * Everything else waits for a decision. */
#define BACKEND_USER "user"

/* What every backend is opened with. */
struct backend_opts {
    struct mem mem;
    struct clock clock;
    const char *holder;
    uint32_t flags;                 /* ALLM_STORE_... */
    uint32_t lease_ms, busy_ms;
};

/* A row of allm_session.  Times are Unix milliseconds by the database's clock;
 * 0 means never.  Strings may be NULL where the column is. */
struct backend_row {
    int64_t id;
    const char *name, *uid;
    uint64_t head;                  /* the seq of the last record; 0: none */
    const char *sum;                /* of it; "" if there is none */
    uint64_t epoch;
    const char *holder;             /* of the last lease */
    int64_t taken, until;           /* since when, until when it is held */
    bool held;                      /* by whomever, at this moment */
    uint64_t open;                  /* the seq of a begin without an end; 0 */
    const char *queue;
    int64_t due;
    uint32_t tries;
    uint64_t cancel;                /* the begin that is to be cancelled; 0 */
    const char *waits, *status, *title, *model;
    uint64_t messages;
    struct slice state;             /* JSON text */
    int64_t created, changed;
};

/* How a session became free before it was taken: the member `after`. */
enum backend_after { BACKEND_NEW, BACKEND_RELEASED, BACKEND_EXPIRED,
                     BACKEND_GONE };

/* Has it no record since it was taken the last time? */
static inline bool backend_is_try(const struct backend_row *row)
{
    return row->changed < row->taken;
}

struct backend_message {
    uint64_t n;                     /* its place in the thread, from 0 */
    struct slice body;
    const char *hash;               /* SHA-256 of body, in hex */
    uint64_t since;                 /* out: the record that added it */
};

/* Messages `from` to `to` (0: all that follow) of the thread as of a seq (0:
 * now). */
struct backend_range {
    uint64_t at, from, to;
};

struct backend_record {
    uint64_t seq;
    const char *type;
    struct slice body;
    const char *sum;
};

struct backend_blob {
    const char *hash;
    struct slice bytes;
};

/* A record, and what it changes in the thread. */
struct backend_change {
    struct backend_record record;
    bool cuts;                      /* messages from `keep` on end here */
    uint64_t keep;
    size_t add_count;
    const struct backend_message *add;
};

/*
 * One append: all of it or nothing, and only if the row still has this epoch
 * and head.  Its outcome is independent of the other appends in the list.
 */
struct backend_append {
    int64_t id;
    uint64_t epoch, head;
    size_t change_count;
    const struct backend_change *changes;
    size_t blob_count;
    const struct backend_blob *blobs;   /* stored once per session */

    /* Columns as they are afterwards; NULL strings become NULL columns. */
    uint64_t open;
    bool due;                       /* set `due` to now, unless it is earlier;
                                       else clear it if nothing was sent */
    bool queued;                    /* it had a queue, or was sent a message */
    const char *waits, *status, *title, *model;
    uint64_t messages;
    struct slice state;             /* ptr NULL: as before */
    int64_t inbox_upto;             /* these messages were taken; 0: none */
    uint64_t live_op;               /* events of other operations go; 0: none */
    bool marks_live;                /* leave a mark: this holder writes events
                                       of that operation */

    enum { BACKEND_PENDING, BACKEND_LOST } outcome;
};

/* Events of a running operation, numbered from 1.  The first line of the body
 * is the epoch of their writer; a mark, which has a number like an event, has
 * no other line. */
struct backend_live {
    uint64_t op;                    /* the seq of its begin */
    uint64_t n;                     /* of the first one; a mark may be 0 */
    uint64_t count;                 /* of events in body; a mark counts as 1 */
    struct slice body;
};

struct backend_sent {               /* a row of allm_inbox */
    int64_t id;
    struct slice body;
};

/* What the store's thread learns about a session it holds. */
struct backend_watch {
    int64_t id;
    uint64_t epoch;
    bool lost;                      /* out: held by somebody else */
    const char *taker;              /* the store sets it: by whom; or NULL */
    uint64_t cancel;                /* out: the column */
    bool sent;                      /* out: messages wait in the inbox */
};

/*
 * The first member of the struct that open() returns.  The store sets the news
 * function after open(); a backend without watch() calls it when another
 * handle has cancelled a session that this handle holds, or has sent a message
 * to it.
 */
struct backend {
    const struct backend_ops *ops;
    void (*news)(void *ud, const struct backend_watch *about);
    void *news_ud;
};

struct backend_ops {
    const char *scheme;             /* "sqlite" */
    bool blocks;                    /* needs the store's thread */
    const char *schema;             /* SQL; "" if there is none */

    /* `rest` is the URI without its scheme and colon; for postgresql the whole
     * URI.  On an error *out is NULL. */
    const allm_error *(*open)(struct arena *a, const char *rest,
                              const struct backend_opts *opts,
                              struct backend **out);
    void (*close)(struct backend *b);

    /* Find a row by its name; *found false if there is none (also one with
     * head 0, unless with_empty). */
    const allm_error *(*find)(struct backend *b, struct arena *a,
                              const char *name, bool with_empty,
                              struct backend_row *row, bool *found);
    /* Take the lease: epoch + 1, holder, taken, until.  The row is created
     * with this uid if it is missing and uid is not NULL.  *taken false if it
     * is held (row says by whom) or missing (row->id is 0). */
    const allm_error *(*take)(struct backend *b, struct arena *a,
                              const char *name, const char *uid,
                              struct backend_row *row,
                              enum backend_after *after, bool *taken);
    /* The same for the oldest due session of a queue that is free.  Counts
     * tries, delays the next one, and marks what is stuck. */
    const allm_error *(*claim)(struct backend *b, struct arena *a,
                               const char *queue, struct backend_row *row,
                               enum backend_after *after, bool *taken);
    /* Give the lease back; a row with head 0 goes.  `due` makes it due now. */
    const allm_error *(*release)(struct backend *b, struct arena *a, int64_t id,
                                 uint64_t epoch, bool due);

    /* Begin a transaction and write all appends, which are of different
     * sessions; then commit(), which makes them durable.  The two are separate
     * so that on_commit can be called in between.  After append() each append
     * is PENDING (written) or LOST; an error of append() means that nothing
     * was written and no transaction is open.  After an error of commit() the
     * outcome is unknown: the store calls reopen() and compares sums. */
    const allm_error *(*append)(struct backend *b, struct arena *a,
                                struct backend_append *const *list,
                                size_t count);
    const allm_error *(*commit)(struct backend *b, struct arena *a);
    const allm_error *(*reopen)(struct backend *b, struct arena *a);
    /* Forget an open transaction; close() then leaves everything as kill -9
     * would.  Only close() is called afterwards. */
    void (*die)(struct backend *b);

    /* Messages, and records; limit 0: all. */
    const allm_error *(*messages)(struct backend *b, struct arena *a,
                                  int64_t id, struct backend_range range,
                                  size_t *count, struct backend_message **out);
    const allm_error *(*records)(struct backend *b, struct arena *a, int64_t id,
                                 uint64_t from, size_t limit, size_t *count,
                                 struct backend_record **out);
    /* The bytes of blobs; blobs[i].hash is given, a missing one keeps bytes
     * with ptr NULL. */
    const allm_error *(*blobs)(struct backend *b, struct arena *a, int64_t id,
                               size_t count, struct backend_blob *blobs);

    /* Rows by a query (words is not its business), newest first, at most
     * `limit`, after the row with that name. */
    const allm_error *(*list)(struct backend *b, struct arena *a,
                              const allm_store_query *q, size_t limit,
                              size_t *count, struct backend_row **out);

    /* Remove a session that nobody holds; *held true: it is held. */
    const allm_error *(*remove)(struct backend *b, struct arena *a, int64_t id,
                                bool *held);
    /* Remove the records of complete operations: those before the last one
     * that has a state, except the one right before it, whose sum is needed;
     * and the messages and blobs that only they refer to.  *removed false:
     * there are none, or an operation is open.  `looks`: remove nothing. */
    const allm_error *(*prune)(struct backend *b, struct arena *a, int64_t id,
                               bool looks, bool *removed);
    /* The first record that was not removed by prune(): usually 1. */
    const allm_error *(*first)(struct backend *b, struct arena *a, int64_t id,
                               uint64_t *seq);

    /* The inbox; put() creates the row if it is missing, sets due and queue. */
    const allm_error *(*send)(struct backend *b, struct arena *a,
                              const char *name, const char *uid,
                              struct slice body, const char *queue);
    const allm_error *(*inbox)(struct backend *b, struct arena *a, int64_t id,
                               size_t *count, struct backend_sent **out);

    /* Mark the open operation as cancelled; *held: somebody holds it. */
    const allm_error *(*cancel)(struct backend *b, struct arena *a,
                                const char *name, bool *found, bool *held);

    /* Events for followers, those from number `from` on: written without a
     * sync, under the next number; live->n is not used. */
    const allm_error *(*put_live)(struct backend *b, struct arena *a,
                                  int64_t id, uint64_t epoch,
                                  const struct backend_live *live);
    const allm_error *(*live)(struct backend *b, struct arena *a, int64_t id,
                              uint64_t op, uint64_t from, size_t *count,
                              struct backend_live **out);

    /* Renew leases and look for news about sessions that are held, in the
     * order of their ids; called every watch_ms milliseconds while there are
     * any.  NULL: the backend calls news() by itself. */
    uint32_t (*watch_ms)(const struct backend *b);
    const allm_error *(*watch)(struct backend *b, struct arena *a, size_t count,
                               struct backend_watch *list);
    /* Has anything changed since *version was set?  For followers. */
    const allm_error *(*changed)(struct backend *b, struct arena *a,
                                 uint64_t *version, bool *changed);
    /* A descriptor that is readable when another process has changed
     * something, or -1; and whether it has.  NULL: there is none. */
    int (*socket)(struct backend *b);
    bool (*hear)(struct backend *b, bool readable);
    /* The database's own check; adds one string per fault.  NULL: it has
     * none that we can call. */
    const allm_error *(*check)(struct backend *b, struct arena *a,
                               size_t *count, const char ***faults);
};

extern const struct backend_ops memory_backend;
extern const struct backend_ops sqlite_backend;
extern const struct backend_ops postgres_backend;
