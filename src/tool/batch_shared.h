/* batch_shared.h - state shared by the runs of a batch; may outlive it */
#pragma once

#include "base/clock.h"
#include "base/home.h"
#include "loop/workers.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * What the stream provides to its batch.  ring(waker) may be called from any
 * thread until the batch is freed.  workers(ud, make) returns the worker
 * threads of the stream's loop, or NULL if there are none (any more); only the
 * thread that pulls the stream calls it.
 */
struct tool_env {
    struct mem mem;                         /* usable from any thread */
    struct clock clock;
    void (*ring)(void *waker);
    void *waker;
    struct workers *(*workers)(void *ud, bool make);
    void *workers_ud;
    const allm_json *context;               /* copied; NULL: {} */
    const char *session_id, *request_id;    /* copied, or NULL */
    const char *key_prefix;                 /* of the keys of calls, copied;
                                               NULL: they have none */
    uint32_t key_turn;
    bool key_by_index;                      /* PREFIX/TURN/INDEX; else
                                               PREFIX/TURN/ID */
};

/*
 * Reference-counted, because abandoned threads may still use it.  The batch,
 * each running job and each deferred run hold a reference.  Only the thread
 * that pulls uses the home's arena.
 */
struct batch_shared {
    struct allm_home *home;
    struct tool_env env;
    const allm_json *context;
    const char *session_id, *request_id;
    atomic_bool closed;                     /* the batch has stopped waiting */
    pthread_mutex_t lock;                   /* guards the members below, and
                                               the states of all runs */
    void *waker;                            /* NULL: the batch is closed */
    uint64_t stamps;                        /* number of answers so far */
};

/* With one reference.  NULL: out of memory. */
struct batch_shared *batch_shared_new(const struct tool_env *env);
void batch_shared_keep(struct batch_shared *d);
void batch_shared_drop(struct batch_shared *d);

/* The batch ends: the waker is never rung again. */
void batch_shared_close(struct batch_shared *d);

/* Wake the thread that pulls.  The caller holds the lock. */
void batch_shared_ring(struct batch_shared *d);
