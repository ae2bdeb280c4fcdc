/* batch_shared.h - what the calls of one turn share, and what outlives the turn */
#ifndef TOOL_BATCH_SHARED_H
#define TOOL_BATCH_SHARED_H

#include "base/clock.h"
#include "base/home.h"
#include "loop/workers.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Who runs the batch, as seen from below.  ring(waker) may be called from any
 * thread until the batch is freed.  workers(ud, make) gives the threads of the
 * loop that waits; NULL: there are none (any more).  It is called by the
 * thread that pulls.
 */
struct tool_env {
    struct mem mem;                         /* for any thread */
    struct clock clock;
    void (*ring)(void *waker);
    void *waker;
    struct workers *(*workers)(void *ud, bool make);
    void *workers_ud;
    const allm_json *context;               /* copied; NULL: {} */
    const char *session_id, *request_id;    /* copied, or NULL */
};

/*
 * Counted, since threads that nobody waits for any longer use it still: by the
 * batch, by each job that runs, by each deferred run.  The home's arena is
 * used by the thread that pulls alone.
 */
struct batch_shared {
    struct allm_home *home;
    struct tool_env env;
    const allm_json *context;
    const char *session_id, *request_id;
    atomic_bool closed;                     /* nobody waits for anything */
    pthread_mutex_t lock;                   /* guards what stands below, and
                                               the states of all runs */
    void *waker;                            /* NULL: gone */
    uint64_t stamps;                        /* answers so far */
};

/* Count 1.  NULL: no memory. */
struct batch_shared *batch_shared_new(const struct tool_env *env);
void batch_shared_keep(struct batch_shared *d);
void batch_shared_drop(struct batch_shared *d);

/* The batch goes: nobody is rung and nothing is waited for. */
void batch_shared_close(struct batch_shared *d);

/* Ring the thread that pulls.  Locked. */
void batch_shared_ring(struct batch_shared *d);

#endif
