/*
 * store_parts.h - what the files of a store share
 *
 *      caller --> job --> queue --> the store's thread --> backend
 *                                        |
 *                 waker, condition <-----'
 */
#pragma once

#include "loop/poll.h"
#include "loop/thread.h"
#include "loop/wake.h"
#include "loop/waker.h"
#include "store/record.h"

#include <stdatomic.h>
#include <sys/types.h>

struct store_loaded;

/* Something that the store's thread does. */
struct job_call {
    const allm_error *(*fn)(struct backend *b, struct arena *a, void *ud);
    struct arena *arena;
    void *ud;
    const allm_error *error;
};

struct store_job {
    struct store_job *next;
    struct store_append *append;    /* NULL: a call */
    struct job_call *call;
    /* Nobody waits: called at the end, and frees the job; or NULL. */
    void (*ended)(struct store_job *job);
    bool done;                      /* under the lock */
};

enum append_state { APPEND_BUILDING, APPEND_QUEUED, APPEND_DONE };

struct store_append {
    struct store_job job;
    struct store_session *session;  /* kept */
    struct arena arena;
    atomic_size_t holders;
    _Atomic enum append_state state; /* DONE: the error is set */
    struct backend_append columns;  /* with changes and blobs */
    struct record_blobs blobs;
    size_t cap;                     /* of changes */
    struct backend_change *changes;
    uint64_t head;                  /* of the newest record, and its sum */
    char sum[STORE_SUM_LEN + 1];
    char at[32];                    /* the time of its records; "": not yet */
    struct buf body;                /* of the open record */
    struct emit emit;
    bool broken;
    const allm_error *error;        /* in the arena */
};

enum { STORE_TAKER_LEN = 127 };

struct store_session {
    allm_store *store;              /* kept */
    struct store_job job;           /* the release of its lease */
    struct job_call call;
    struct store_session *next;     /* of those that are held, or ending */
    size_t users;                   /* under the lock; without any, it is
                                       released */
    atomic_size_t holders;          /* the users, as one, and appends */
    _Atomic(struct store_append *) spare;   /* memory for the next; or NULL */
    int64_t id;
    const char *name, *uid;         /* in its arena */
    struct arena arena;
    uint64_t epoch;
    bool held;
    bool in_batch;                  /* for the store's thread */

    /* One thread at a time, the one that changes the session. */
    uint64_t head;                  /* with all that was submitted */
    char sum[STORE_SUM_LEN + 1];
    struct backend_append columns;  /* of the newest append; strings in
                                       columns_arena */
    struct arena columns_arena[2];  /* the newest, and the one before */
    unsigned columns_at;
    int64_t at_second;              /* of the time below */
    char at[32];                    /* of the newest append; "": none */

    /* Changed under the lock.  Those that are atomic are looked at for each
     * event, without it. */
    allm_waker *waker;
    atomic_bool lost, released;
    char taker[STORE_TAKER_LEN + 1];    /* who has it now; or "" */
    _Atomic uint64_t cancel;
    bool sent;
    const allm_error *failed;       /* of an append; until it is reloaded */
    struct arena failed_arena;
};

/* Free an append that nobody uses. */
void append_destroy(struct store_append *p);

/* The last error of a thread. */
struct store_error {
    struct store_error *next;
    pthread_t thread;
    struct arena arena;
    const allm_error *error;
};

struct allm_store {
    struct mem mem;
    atomic_size_t holders;
    struct arena arena;             /* strings that live as long */
    struct backend_opts opts;
    const struct backend_ops *ops;
    struct backend *backend;
    const char *rest;               /* of the URI, for the backend */
    const allm_error *refused;      /* it could not be opened */
    uint32_t live_ms;
    allm_status (*on_commit)(void *ud, uint64_t count, bool durable);
    void *on_commit_ud;
    pid_t pid;
    unsigned forks;                 /* of this process when it was opened */

    pthread_mutex_t work;           /* where there is no thread: one job */
    pthread_mutex_t lock;
    pthread_cond_t done;            /* a job has ended */
    struct store_job *first, **last;
    struct store_session *held;
    struct store_follower *followers;
    struct store_error *errors;
    bool closing;
    bool frees_itself;              /* its own thread dropped the last
                                       reference */

    struct thread thread;           /* if the backend blocks */
    bool has_thread;
    struct poll poll;
    struct wake wake;

    /* For the store's thread. */
    atomic_bool dead;               /* on_commit said so */
    uint64_t commits;
    int64_t watch_ns;               /* when the backend was asked for news */
    bool watch_due;                 /* it is asked at once */
    uint64_t version;               /* what changed() said then */
    bool wrote;                     /* something for followers, since then */
};

/* store.c: open a store with this backend, for tests. */
allm_store *store_open_with(const struct backend_ops *ops, const char *rest,
                            const allm_store_opts *opts);

/*
 * store.c: free it, when the thread is gone.  In a child of fork() the store
 * is not ours: its locks may be held by threads that are not there, so locking
 * does nothing, and every function fails or does nothing.
 */
void store_destroy(allm_store *s);
bool store_is_ours(const allm_store *s);
void store_lock(allm_store *s);
void store_unlock(allm_store *s);

/* queue.c */
int queue_start(allm_store *s);         /* 0 or an errno */
void queue_stop(allm_store *s);         /* after all jobs; then destroys it */
void queue_release(allm_store *s);      /* its descriptors */
void queue_put(allm_store *s, struct store_job *job);   /* memory: runs it */
void queue_wait(allm_store *s, struct store_job *job);
void queue_wake(allm_store *s);         /* the thread looks around */

/* watch.c: ask the backend for news if it is time; how long until the next
 * time, or -1.  News of the backend about a session. */
int64_t watch_store(allm_store *s);
void watch_now(allm_store *s);          /* another process changed something */
void watch_tell(void *ud, const struct backend_watch *about);

/* lease.c: wake the stream of a session (locked); keep the memory of a
 * session. */
void lease_ring(struct store_session *t);
/* In the store's thread: who took this session last, in the arena; or NULL. */
const char *lease_taker(allm_store *s, struct arena *a, const char *name);
/* It is lost, to this holder (NULL: nobody knows).  Locked. */
void lease_lose(struct store_session *t, const char *taker);
void lease_keep(struct store_session *t);
void lease_drop(struct store_session *t);
void lease_before_fork(void);
void lease_after_fork(bool child);

/* load.c, in the store's thread: read what loaded->row refers to, and check
 * it. */
const allm_error *load_session(struct backend *b, struct arena *a,
                               struct store_loaded *l);

/* append.c: drop a reference; it has ended (locked). */
void append_drop(struct store_append *p);
void append_end(struct store_append *p, const allm_error *error);
