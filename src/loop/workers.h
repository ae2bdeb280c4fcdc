/* workers.h - threads for functions that block */
#ifndef LOOP_WORKERS_H
#define LOOP_WORKERS_H

#include "base/mem.h"

#include <stdint.h>

/*
 * Something to be done in another thread.  run() may take as long as it likes.
 * done() is called behind it in the same thread and must be quick: it hands
 * the job back (posts it to an inbox), and may free it.  From done() on, a
 * release of the workers waits for the thread to be gone.
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
 * Threads start when there are jobs for them, up to `max` at once, take jobs
 * in the order of submission, and end when they had nothing to do for idle_ns.
 * They are called `name` (15 characters count) and inherit the signal mask of
 * the thread that submits.  { 0 } is not valid; init allocates nothing.
 *
 * All functions are for the owner's thread.  After a fork the child has no
 * threads: it may do nothing with them, or exec.
 */
struct worker_pool;

struct workers {
    struct mem mem;             /* for any thread */
    size_t max;
    int64_t idle_ns;
    const char *name;           /* lives as long as the process */
    struct worker_pool *pool;   /* NULL until the first job */
};

#define WORKERS_IDLE_NS INT64_C(1000000000)

void workers_init(struct workers *w, struct mem mem, size_t max,
                  int64_t idle_ns, const char *name);

/*
 * Jobs that did not begin are dropped, in this thread.  Jobs that run are not
 * waited for: they go on, and the last of their threads frees what is left.
 * All other threads are gone when this returns.  Not to be called in done().
 */
void workers_release(struct workers *w);

/* 0, or an errno when there is no memory, or no thread and none can be had:
 * the job is still the caller's. */
int workers_submit(struct workers *w, struct job *job);

/*
 * Nobody waits for this job any longer.  True: it had not begun and never
 * will; it is the caller's again.  False: it runs or has run; if it runs its
 * thread is given up, so that another may start in its place.
 */
bool workers_abandon(struct workers *w, const struct job *job);

/* Jobs submitted whose done() has not returned, without abandoned ones: when
 * it is 0 all of them have been handed back. */
size_t workers_busy(const struct workers *w);

#endif
