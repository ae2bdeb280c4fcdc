/*
 * workers.c - threads for functions that block
 *
 *      submit --> queue --> worker --run()--> worker ... --idle--> ended
 *                             |
 *                             '-- given up: ends after its job, frees itself
 *
 * A worker is in one of three places, always changed under the lock:
 *
 *      pool->live     waits for a job or runs one
 *      pool->ended    returns from its thread, to be joined by the next one
 *                     that ends or by the owner: at most one stays behind
 *      nowhere        given up (detached) while its job ran
 *
 * Invariants
 *   (1) The owner is a holder until release; so is each worker that is live or
 *       given up.  The last holder frees the pool.
 *   (2) Of the workers only a given-up one can be the last holder, since
 *       release joins the others before the owner leaves.
 *   (3) idle counts the live workers that wait for a job, also those that were
 *       signalled and have not woken up yet; so a thread is missing exactly
 *       when queued > idle.
 *   (4) Between two locks a worker that runs a job touches nothing of the
 *       pool, and no lock is held while a job runs or a thread is joined.
 */
#include "loop/workers.h"

#include "base/clock.h"
#include "loop/thread.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

struct worker {
    struct worker *next;
    struct worker_pool *pool;
    pthread_t thread;
    const struct job *job;      /* in run(); NULL: none */
    bool given_up;
};

struct worker_pool {
    struct mem mem;
    int64_t idle_ns;
    const char *name;
    pthread_mutex_t lock;
    pthread_cond_t work;        /* a job came, or closed */
    struct job *first, **last;
    size_t queued;
    struct worker *live, *ended;
    size_t threads;             /* live */
    size_t idle;
    size_t running;
    size_t holders;
    bool closed;
};

/* ------------------------------------------------------------- the pool --- */

/* A condition that uses the monotonic clock. */
static int init_condition(pthread_cond_t *c)
{
    pthread_condattr_t how;
    int error = pthread_condattr_init(&how);
    if (error)
        return error;
    error = pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    if (!error)
        error = pthread_cond_init(c, &how);
    pthread_condattr_destroy(&how);
    return error;
}

static int init_locks(struct worker_pool *pool)
{
    int error = pthread_mutex_init(&pool->lock, NULL);
    if (error)
        return error;
    error = init_condition(&pool->work);
    if (error)
        pthread_mutex_destroy(&pool->lock);
    return error;
}

static int make_pool(struct workers *w)
{
    struct worker_pool *pool = mem_alloc(w->mem, sizeof *pool);
    if (!pool)
        return ENOMEM;
    *pool = (struct worker_pool){
        .mem = w->mem,
        .idle_ns = w->idle_ns,
        .name = w->name,
        .holders = 1,
    };
    pool->last = &pool->first;
    int error = init_locks(pool);
    if (error)
        mem_free(w->mem, pool, sizeof *pool);
    else
        w->pool = pool;
    return error;
}

static void free_pool(struct worker_pool *pool)
{
    struct mem mem = pool->mem;
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    mem_free(mem, pool, sizeof *pool);
}

/* Unlock, and drop the reference: keeps (1). */
static void leave_pool(struct worker_pool *pool)
{
    bool was_last = --pool->holders == 0;
    pthread_mutex_unlock(&pool->lock);
    if (was_last)
        free_pool(pool);
}

static void take_off_live(struct worker *me)
{
    struct worker **at = &me->pool->live;
    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    me->next = NULL;
    me->pool->threads--;
}

/* Join the threads that are ending.  Unlocked. */
static void join_all(struct mem mem, struct worker *list)
{
    while (list) {
        struct worker *next = list->next;
        pthread_join(list->thread, NULL);
        mem_free(mem, list, sizeof *list);
        list = next;
    }
}

static struct worker *take_ended(struct worker_pool *pool)
{
    struct worker *list = pool->ended;
    pool->ended = NULL;
    return list;
}

/* ------------------------------------------------------------- a worker --- */

static struct timespec time_after(int64_t ns)
{
    int64_t then = clock_add(clock_now_ns(clock_real()), ns);
    return (struct timespec){ (time_t)(then / NS_PER_S),
                              (long)(then % NS_PER_S) };
}

/* Wait for the next job; NULL: there is none, and the thread ends.  Locked. */
static struct job *take_job(struct worker_pool *pool)
{
    struct timespec end = time_after(pool->idle_ns);
    int error = 0;
    while (!pool->first && !pool->closed && !error) {
        pool->idle++;
        error = pthread_cond_timedwait(&pool->work, &pool->lock, &end);
        pool->idle--;
    }
    struct job *job = pool->first;
    if (!job)
        return NULL;
    pool->first = job->next;
    if (!pool->first)
        pool->last = &pool->first;
    pool->queued--;
    return job;
}

/* Run one job; false if this worker was given up meanwhile.  Locked before
 * and after: keeps (4). */
static bool run_job(struct worker *me, struct job *job)
{
    struct worker_pool *pool = me->pool;
    void (*done)(struct job *) = job->done;
    me->job = job;
    pool->running++;
    pthread_mutex_unlock(&pool->lock);
    job->run(job);
    if (done) {
        pthread_mutex_lock(&pool->lock);
        me->job = NULL;         /* it cannot be abandoned any more */
        pthread_mutex_unlock(&pool->lock);
        done(job);
    }
    pthread_mutex_lock(&pool->lock);
    me->job = NULL;
    if (me->given_up)
        return false;
    pool->running--;
    return true;
}

/* Join the one that ended before, and leave this one to the next.  After a
 * close the owner joins all that are live, and does not look at ended. */
static void end_idle(struct worker *me)
{
    struct worker_pool *pool = me->pool;
    struct mem mem = pool->mem;
    struct worker *before = NULL;
    if (!pool->closed) {
        take_off_live(me);
        before = take_ended(pool);
        pool->ended = me;
    }
    leave_pool(pool);           /* not the last: (2) */
    join_all(mem, before);
}

static void end_given_up(struct worker *me)
{
    struct worker_pool *pool = me->pool;
    mem_free(pool->mem, me, sizeof *me);
    leave_pool(pool);
}

static void *work(void *arg)
{
    struct worker *me = arg;
    struct worker_pool *pool = me->pool;
    thread_set_name(pool->name);
    pthread_mutex_lock(&pool->lock);
    for (struct job *job; (job = take_job(pool));) {
        if (!run_job(me, job)) {
            end_given_up(me);
            return NULL;
        }
    }
    end_idle(me);
    return NULL;
}

/* Locked, so that the worker sees all of its struct. */
static int start_worker(struct worker_pool *pool)
{
    struct worker *me = mem_alloc(pool->mem, sizeof *me);
    if (!me)
        return ENOMEM;
    *me = (struct worker){ .pool = pool };
    int error = pthread_create(&me->thread, NULL, work, me);
    if (error) {
        mem_free(pool->mem, me, sizeof *me);
        return error;
    }
    me->next = pool->live;
    pool->live = me;
    pool->threads++;
    pool->holders++;
    return 0;
}

/* Its thread continues on its own, and ends with its job.  Locked. */
static void give_up(struct worker *worker)
{
    take_off_live(worker);
    worker->given_up = true;
    worker->pool->running--;
    pthread_detach(worker->thread);
}

/* ------------------------------------------------------------ the owner --- */

void workers_init(struct workers *w, struct mem mem, size_t max,
                  int64_t idle_ns, const char *name)
{
    *w = (struct workers){ mem, max ? max : 1, idle_ns, name, NULL };
}

static void append_job(struct worker_pool *pool, struct job *job)
{
    job->next = NULL;
    *pool->last = job;
    pool->last = &job->next;
    pool->queued++;
}

/* Remove a job from the queue; false: it is not there. */
static bool unqueue(struct worker_pool *pool, const struct job *job)
{
    struct job **at = &pool->first;
    while (*at && *at != job)
        at = &(*at)->next;
    if (!*at)
        return false;
    *at = job->next;
    if (!*at)
        pool->last = at;
    pool->queued--;
    return true;
}

/* That a thread cannot start matters only if there is no other. */
static int find_thread(struct workers *w)
{
    struct worker_pool *pool = w->pool;
    int error = 0;
    if (pool->queued > pool->idle && pool->threads < w->max)
        error = start_worker(pool);
    pthread_cond_signal(&pool->work);
    return pool->threads ? 0 : error;
}

int workers_submit(struct workers *w, struct job *job)
{
    int error = w->pool ? 0 : make_pool(w);
    if (error)
        return error;
    struct worker_pool *pool = w->pool;
    pthread_mutex_lock(&pool->lock);
    append_job(pool, job);
    error = find_thread(w);
    if (error)
        unqueue(pool, job);
    struct worker *ended = take_ended(pool);
    pthread_mutex_unlock(&pool->lock);
    join_all(w->mem, ended);
    return error;
}

bool workers_abandon(struct workers *w, const struct job *job)
{
    struct worker_pool *pool = w->pool;
    if (!pool)
        return false;
    pthread_mutex_lock(&pool->lock);
    bool waited = unqueue(pool, job);
    struct worker *worker = waited ? NULL : pool->live;
    while (worker && worker->job != job)
        worker = worker->next;
    if (worker) {
        give_up(worker);
        find_thread(w);         /* for the jobs queued after it */
    }
    pthread_mutex_unlock(&pool->lock);
    return waited;
}

size_t workers_busy(const struct workers *w)
{
    struct worker_pool *pool = w->pool;
    if (!pool)
        return 0;
    pthread_mutex_lock(&pool->lock);
    size_t busy = pool->queued + pool->running;
    pthread_mutex_unlock(&pool->lock);
    return busy;
}

/* Let every thread end, those at rest at once.  Gives the ones to join. */
static struct worker *close_pool(struct worker_pool *pool)
{
    pool->closed = true;
    for (struct worker *at = pool->live, *next; at; at = next) {
        next = at->next;
        if (at->job)
            give_up(at);
    }
    pthread_cond_broadcast(&pool->work);
    struct worker **end = &pool->live;
    while (*end)
        end = &(*end)->next;
    *end = take_ended(pool);
    return pool->live;
}

static void drop_all(struct job *list)
{
    while (list) {
        struct job *next = list->next;
        if (list->drop)
            list->drop(list);
        list = next;
    }
}

void workers_release(struct workers *w)
{
    struct worker_pool *pool = w->pool;
    if (!pool)
        return;
    w->pool = NULL;
    pthread_mutex_lock(&pool->lock);
    struct job *jobs = pool->first;
    pool->first = NULL;
    pool->last = &pool->first;
    pool->queued = 0;
    struct worker *resting = close_pool(pool);
    pthread_mutex_unlock(&pool->lock);
    join_all(pool->mem, resting);
    drop_all(jobs);
    pthread_mutex_lock(&pool->lock);
    leave_pool(pool);
}
