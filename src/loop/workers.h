/* workers.h - threads for functions that block */
#pragma once

#include "base/mem.h"

#include <stdint.h>

/*
 * A function to run in another thread.  run() may block.  done() is called
 * after it in the same thread and must be quick: it hands the job back (posts
 * it to an inbox), and may free it.  From done() on, workers_release() waits
 * for the thread to end.
 */
struct job {
    void (*run)(struct job *job);
    void (*done)(struct job *job);      /* or NULL: then run() may free it */
    void (*drop)(struct job *job);      /* or NULL: called in place of both
                                           when the workers are released
                                           before it began */
    struct job *next;
};

/*
 * Threads start when there are jobs, up to `max` at once.  They run jobs in the
 * order of submission, and end after they were idle for idle_ns.  Their name is
 * `name` (the first 15 characters), and they inherit the signal mask of the
 * thread that submits.  { 0 } is not valid; init allocates nothing.
 *
 * Only the owner's thread calls these functions.  After a fork the child has no
 * threads, and may only exec.
 */
struct worker_pool;

struct workers {
    struct mem mem;             /* for any thread */
    size_t max;
    int64_t idle_ns;
    const char *name;           /* static */
    struct worker_pool *pool;   /* NULL until the first job */
};

#define WORKERS_IDLE_NS INT64_C(1000000000)

void workers_init(struct workers *w, struct mem mem, size_t max,
                  int64_t idle_ns, const char *name);

/*
 * Drop the jobs that have not begun, in this thread.  Running jobs continue,
 * and the last of their threads frees the pool.  All other threads have ended
 * when this returns.  Do not call it in done().
 */
void workers_release(struct workers *w);

/* 0; or an errno if there is no memory, or no thread and none can be started:
 * then the job still belongs to the caller. */
int workers_submit(struct workers *w, struct job *job);

/*
 * The caller does not wait for this job any longer.  True: it had not begun,
 * and belongs to the caller again.  False: it runs or has run.  A running job's
 * thread no longer counts, so another one may start in its place.
 */
bool workers_abandon(struct workers *w, const struct job *job);

/* The number of jobs whose done() has not returned, without abandoned ones.  0:
 * all have been handed back. */
size_t workers_busy(const struct workers *w);
