/*
 * test_workers.c - threads start on demand, end when idle, and are not waited
 * for while they work
 *
 * tag: thread
 *
 * Nobody sleeps here.  A job reports and waits at a gate (a mutex and a
 * condition).  That a thread has really ended is seen by a robust mutex which
 * it locked and never unlocked: locking it then gives EOWNERDEAD.
 */
#include "loop/workers.h"

#include "harness/check.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define LONG_NS INT64_MAX       /* idle for ever */

/* ---------------------------------------------------------------- gates --- */

/* A number that threads wait for. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
};

#define GATE { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static void gate_add(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->count++;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static void gate_wait(struct gate *g, int count)
{
    pthread_mutex_lock(&g->lock);
    while (g->count < count)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static int gate_count(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    int count = g->count;
    pthread_mutex_unlock(&g->lock);
    return count;
}

/* --------------------------------------------------------------- deaths --- */

static void death_init(pthread_mutex_t *death)
{
    pthread_mutexattr_t how;
    CHECK(pthread_mutexattr_init(&how) == 0);
    CHECK(pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(death, &how) == 0);
    pthread_mutexattr_destroy(&how);
}

/* Wait until the thread that holds it has ended. */
static void death_wait(pthread_mutex_t *death)
{
    CHECK_INT(pthread_mutex_lock(death), EOWNERDEAD);
    CHECK(pthread_mutex_consistent(death) == 0);
    pthread_mutex_unlock(death);
    pthread_mutex_destroy(death);
}

/* ----------------------------------------------------------------- jobs --- */

struct task {
    struct job job;             /* first: a job is a task */
    struct gate *began, *may_end, *ended;       /* or NULL */
    pthread_mutex_t *death;                     /* or NULL: do not lock it */
    pthread_t thread;
    int order;
    atomic_int *orders;
    bool dropped;
};

static void run_task(struct job *job)
{
    struct task *t = (struct task *)job;
    t->thread = pthread_self();
    if (t->orders)
        t->order = ++*t->orders;
    if (t->death)
        pthread_mutex_lock(t->death);
    if (t->began)
        gate_add(t->began);
    if (t->may_end)
        gate_wait(t->may_end, 1);
}

static void finish_task(struct job *job)
{
    struct task *t = (struct task *)job;
    if (t->ended)
        gate_add(t->ended);     /* t may be gone behind this */
}

static void drop_task(struct job *job)
{
    ((struct task *)job)->dropped = true;
}

static struct task make_task(struct gate *began, struct gate *may_end,
                             struct gate *ended)
{
    return (struct task){ .job = { run_task, finish_task, drop_task, NULL },
                          .began = began,
                          .may_end = may_end,
                          .ended = ended };
}

static struct workers make_workers(size_t max, int64_t idle_ns)
{
    struct workers w;
    workers_init(&w, mem_default(), max, idle_ns, "allm-test");
    return w;
}

/* ---------------------------------------------------------------- tests --- */

static void without_jobs_there_is_nothing(void)
{
    struct workers w = make_workers(4, LONG_NS);
    struct task t = make_task(NULL, NULL, NULL);
    CHECK_ALWAYS(check_allocations() == 0);
    CHECK_ALWAYS(workers_busy(&w) == 0);
    CHECK_ALWAYS(!workers_abandon(&w, &t.job));
    workers_release(&w);
    workers_release(&w);
    CHECK_ALWAYS(check_allocations() == 0);
}

static void a_job_runs_in_another_thread(void)
{
    struct gate ended = GATE;
    struct workers w = make_workers(1, LONG_NS);
    struct task t = make_task(NULL, NULL, &ended);
    int error = workers_submit(&w, &t.job);
    CHECK_INT(error, 0);
    if (!error) {
        gate_wait(&ended, 1);
        CHECK_ALWAYS(!pthread_equal(t.thread, pthread_self()));
        CHECK_ALWAYS(!t.dropped);
    }
    workers_release(&w);
    CHECK_ALWAYS(check_live_blocks() == 0);     /* the thread is gone */
}

/* Out of memory: the job stays the caller's, or an earlier thread takes it. */
static void what_is_not_taken_is_not_run(void)
{
    enum { N = 3 };
    struct gate ended = GATE;
    struct workers w = make_workers(N, LONG_NS);
    struct task t[N];
    int taken = 0;
    for (size_t i = 0; i < N; i++) {
        t[i] = make_task(NULL, NULL, &ended);
        int error = workers_submit(&w, &t[i].job);
        CHECK_INT(error, 0);
        CHECK_ALWAYS(!error || error == ENOMEM);
        taken += !error;
    }
    gate_wait(&ended, taken);
    workers_release(&w);
    CHECK_ALWAYS(gate_count(&ended) == taken);
}

static void one_thread_takes_jobs_in_order(void)
{
    enum { N = 20 };
    struct gate began = GATE, may_end = GATE, ended = GATE;
    struct workers w = make_workers(1, LONG_NS);
    struct task t[N];
    atomic_int orders = 0;
    for (size_t i = 0; i < N; i++) {
        t[i] = make_task(&began, &may_end, &ended);
        t[i].orders = &orders;
        CHECK(workers_submit(&w, &t[i].job) == 0);
    }
    gate_wait(&began, 1);
    CHECK_INT(gate_count(&began), 1);           /* one at a time */
    CHECK_INT(workers_busy(&w), N);
    gate_add(&may_end);
    gate_wait(&ended, N);
    for (int i = 0; i < N; i++) {
        CHECK_INT(t[i].order, i + 1);
        CHECK(pthread_equal(t[i].thread, t[0].thread));
    }
    workers_release(&w);
}

/* All must be inside at once, or this waits for ever. */
static void as_many_run_at_once_as_may(void)
{
    enum { N = 6 };
    struct gate began = GATE, may_end = GATE, ended = GATE;
    struct workers w = make_workers(N, LONG_NS);
    struct task t[2 * N];
    for (size_t i = 0; i < 2 * N; i++) {
        t[i] = make_task(&began, &may_end, &ended);
        CHECK(workers_submit(&w, &t[i].job) == 0);
    }
    gate_wait(&began, N);
    CHECK_INT(gate_count(&began), N);           /* and not one more */
    CHECK_INT(workers_busy(&w), 2 * N);
    gate_add(&may_end);
    gate_wait(&ended, 2 * N);
    workers_release(&w);
    CHECK_INT(check_live_blocks(), 0);
}

/* A thread at rest takes the next job: no other is started. */
static void a_thread_at_rest_is_used_again(void)
{
    struct workers w = make_workers(4, LONG_NS);
    pthread_t first = pthread_self();
    for (int i = 0; i < 50; i++) {
        struct gate ended = GATE;
        struct task t = make_task(NULL, NULL, &ended);
        CHECK(workers_submit(&w, &t.job) == 0);
        gate_wait(&ended, 1);
        while (workers_busy(&w))                /* it is about to rest */
            sched_yield();
        if (i == 0)
            first = t.thread;
        CHECK(pthread_equal(first, t.thread));
    }
    workers_release(&w);
    CHECK_INT(check_allocations(), 2);          /* the pool and one worker */
}

static void an_idle_thread_ends(void)
{
    pthread_mutex_t deaths[3];
    struct workers w = make_workers(2, 1);
    for (int i = 0; i < 3; i++) {
        struct gate ended = GATE;
        struct task t = make_task(NULL, NULL, &ended);
        death_init(&deaths[i]);
        t.death = &deaths[i];
        CHECK(workers_submit(&w, &t.job) == 0);
        gate_wait(&ended, 1);
        death_wait(&deaths[i]);         /* no other job came: it went */
    }
    workers_release(&w);
}

/* Each that ends joins the one before it, so that no more than one is left. */
static void many_idle_threads_end(void)
{
    enum { N = 8 };
    pthread_mutex_t deaths[N];
    struct gate began = GATE, may_end = GATE;
    struct workers w = make_workers(N, 1000000);
    struct task t[N];
    for (size_t i = 0; i < N; i++) {
        t[i] = make_task(&began, &may_end, NULL);
        death_init(&deaths[i]);
        t[i].death = &deaths[i];
        CHECK(workers_submit(&w, &t[i].job) == 0);
    }
    gate_wait(&began, N);
    gate_add(&may_end);
    for (size_t i = 0; i < N; i++)
        death_wait(&deaths[i]);
    CHECK(check_live_blocks() <= 2);    /* the pool and the last of them */
    workers_release(&w);
    CHECK_INT(check_live_blocks(), 0);
}

/* -------------------------------------------------------------- release --- */

static void what_has_not_begun_is_dropped(void)
{
    struct gate began = GATE, may_end = GATE, ended = GATE;
    pthread_mutex_t death;
    struct workers w = make_workers(1, LONG_NS);
    struct task t[3];
    death_init(&death);
    for (size_t i = 0; i < 3; i++) {
        t[i] = make_task(&began, &may_end, &ended);
        t[i].death = i == 0 ? &death : NULL;
        t[i].job.drop = i == 2 ? NULL : drop_task;
        CHECK(workers_submit(&w, &t[i].job) == 0);
    }
    gate_wait(&began, 1);
    workers_release(&w);                /* the first one still runs */
    CHECK(!t[0].dropped && t[1].dropped && !t[2].dropped);
    CHECK_INT(gate_count(&ended), 0);
    CHECK_INT(workers_busy(&w), 0);
    gate_add(&may_end);
    death_wait(&death);
    CHECK_INT(gate_count(&ended), 1);
    CHECK_INT(gate_count(&began), 1);
}

/* Release does not wait for what runs; the thread frees the pool. */
static void the_last_thread_frees_the_pool(void)
{
    enum { N = 4 };
    struct gate began = GATE, may_end = GATE, ended = GATE;
    pthread_mutex_t deaths[N];
    struct workers w = make_workers(N, LONG_NS);
    struct task t[N];
    for (size_t i = 0; i < N; i++) {
        t[i] = make_task(&began, &may_end, &ended);
        death_init(&deaths[i]);
        t[i].death = &deaths[i];
        CHECK(workers_submit(&w, &t[i].job) == 0);
    }
    gate_wait(&began, N);
    workers_release(&w);
    CHECK_INT(check_live_blocks(), 1 + N);      /* theirs now */
    gate_add(&may_end);
    for (size_t i = 0; i < N; i++)
        death_wait(&deaths[i]);
    CHECK_INT(gate_count(&ended), N);
    CHECK_INT(check_live_blocks(), 0);
}

static void released_workers_can_begin_anew(void)
{
    struct gate ended = GATE;
    struct workers w = make_workers(2, LONG_NS);
    struct task t = make_task(NULL, NULL, &ended);
    for (int i = 1; i <= 3; i++) {
        if (workers_submit(&w, &t.job) == 0)
            gate_wait(&ended, i);
        else
            gate_add(&ended);
        workers_release(&w);
    }
    CHECK_ALWAYS(check_live_blocks() == 0);
}

struct releaser {
    struct task task;
    struct workers *workers;
};

static void run_releaser(struct job *job)
{
    struct releaser *r = (struct releaser *)job;
    pthread_mutex_lock(r->task.death);
    workers_release(r->workers);        /* as if it were the owner */
}

/* A tool that frees its own hub: it is not waited for by itself. */
static void a_job_may_release_its_own_workers(void)
{
    struct gate ended = GATE;
    pthread_mutex_t death;
    struct workers w = make_workers(2, LONG_NS);
    struct releaser r = { make_task(NULL, NULL, &ended), &w };
    death_init(&death);
    r.task.death = &death;
    r.task.job.run = run_releaser;
    CHECK(workers_submit(&w, &r.task.job) == 0);
    gate_wait(&ended, 1);
    death_wait(&death);
    CHECK_INT(check_live_blocks(), 0);
}

/* -------------------------------------------------------------- abandon --- */

static void an_abandoned_job_does_not_begin(void)
{
    struct gate began = GATE, may_end = GATE, ended = GATE;
    struct workers w = make_workers(1, LONG_NS);
    struct task t[4];
    for (size_t i = 0; i < 4; i++) {
        t[i] = make_task(&began, &may_end, &ended);
        CHECK(workers_submit(&w, &t[i].job) == 0);
    }
    gate_wait(&began, 1);
    CHECK(workers_abandon(&w, &t[3].job));      /* the last */
    CHECK(workers_abandon(&w, &t[1].job));      /* the first in the queue */
    CHECK(!workers_abandon(&w, &t[1].job));     /* is not there any more */
    CHECK_INT(workers_busy(&w), 2);
    CHECK(workers_submit(&w, &t[3].job) == 0);  /* the queue is whole */
    gate_add(&may_end);
    gate_wait(&ended, 3);
    CHECK_INT(gate_count(&began), 3);
    CHECK(!t[1].dropped && !t[3].dropped);
    workers_release(&w);
}

/* A function that never returns must not block those behind it. */
static void a_hung_job_gives_its_place_to_others(void)
{
    struct gate began = GATE, may_end = GATE, ended = GATE, hung_end = GATE;
    pthread_mutex_t death;
    struct workers w = make_workers(1, LONG_NS);
    struct task hung = make_task(&began, &may_end, &hung_end);
    struct task behind = make_task(NULL, NULL, &ended);
    death_init(&death);
    hung.death = &death;
    CHECK(workers_submit(&w, &hung.job) == 0);
    gate_wait(&began, 1);
    CHECK(workers_submit(&w, &behind.job) == 0);
    CHECK(!workers_abandon(&w, &hung.job));
    gate_wait(&ended, 1);               /* in a thread of its own */
    CHECK(!pthread_equal(hung.thread, behind.thread));
    CHECK_INT(gate_count(&hung_end), 0);
    CHECK(!workers_abandon(&w, &hung.job));
    workers_release(&w);
    gate_add(&may_end);                 /* long after all is gone */
    death_wait(&death);
    CHECK_INT(gate_count(&hung_end), 1);
    CHECK_INT(check_live_blocks(), 0);
}

/* The abandoned one ends first, while the workers live on. */
static void an_abandoned_thread_leaves_quietly(void)
{
    struct gate began = GATE, may_end = GATE, ended = GATE;
    pthread_mutex_t death;
    struct workers w = make_workers(1, LONG_NS);
    struct task slow = make_task(&began, &may_end, NULL);
    struct task next = make_task(NULL, NULL, &ended);
    death_init(&death);
    slow.death = &death;
    CHECK(workers_submit(&w, &slow.job) == 0);
    gate_wait(&began, 1);
    CHECK(!workers_abandon(&w, &slow.job));
    CHECK_INT(workers_busy(&w), 0);
    gate_add(&may_end);
    death_wait(&death);
    CHECK_INT(check_live_blocks(), 1);
    CHECK(workers_submit(&w, &next.job) == 0);
    gate_wait(&ended, 1);
    workers_release(&w);
}

/* ---------------------------------------------------------------- names --- */

struct named {
    struct task task;
    char name[16];
};

static void run_named(struct job *job)
{
    struct named *n = (struct named *)job;
#ifdef __linux__
    prctl(PR_GET_NAME, n->name);
#endif
}

static void threads_have_a_name(void)
{
#ifndef __linux__
    check_skip("threads have no names here");
#else
    struct gate ended = GATE;
    struct workers w = make_workers(1, LONG_NS);
    struct named n = { make_task(NULL, NULL, &ended), { 0 } };
    n.task.job.run = run_named;
    if (workers_submit(&w, &n.task.job) == 0) {
        gate_wait(&ended, 1);
        CHECK_TEXT(n.name, "allm-test");
    }
    workers_release(&w);
#endif
}

/* -------------------------------------------------------------- a crowd --- */

struct counted {
    struct job job;
    pthread_mutex_t death;
    struct gate *ended;
    int runs, drops;
};

static void run_counted(struct job *job)
{
    struct counted *c = (struct counted *)job;
    c->runs++;
    pthread_mutex_lock(&c->death);
    gate_add(c->ended);
}

static void drop_counted(struct job *job)
{
    ((struct counted *)job)->drops++;
}

static struct counted crowd[40];
enum { CROWD = sizeof crowd / sizeof *crowd };

/* Submit all, and change one's mind about some; how many those were. */
static int submit_crowd(struct workers *w, struct gate *ended, struct random r)
{
    int kept = 0;
    for (size_t i = 0; i < CROWD; i++) {
        struct counted *c = &crowd[i];
        *c = (struct counted){ .job = { run_counted, NULL, drop_counted, NULL },
                               .ended = ended };
        death_init(&c->death);
        CHECK(workers_submit(w, &c->job) == 0);
        if (random_below(r, 8) == 0 && workers_abandon(w, &c->job))
            kept++;
    }
    return kept;
}

static int count_drops(void)
{
    int drops = 0;
    for (size_t i = 0; i < CROWD; i++)
        drops += crowd[i].drops;
    return drops;
}

/* Who did what, once its thread has ended? */
static int count_crowd(void)
{
    int done = 0;
    for (size_t i = 0; i < CROWD; i++) {
        struct counted *c = &crowd[i];
        int error = pthread_mutex_lock(&c->death);
        if (error == EOWNERDEAD)
            pthread_mutex_consistent(&c->death);
        pthread_mutex_unlock(&c->death);
        pthread_mutex_destroy(&c->death);
        CHECK_INT(c->runs, error == EOWNERDEAD);
        CHECK(c->runs + c->drops <= 1);
        done += c->runs + c->drops;
    }
    return done;
}

/* Threads come and go all the time; each job is run or dropped, once. */
static void every_job_is_run_or_dropped_once(void)
{
    struct random r = check_random();
    for (int round = 0; round < 60; round++) {
        struct gate ended = GATE;
        struct workers w = make_workers(1 + random_below(r, 4),
                                        (int64_t)random_below(r, 20000));
        int kept = submit_crowd(&w, &ended, r);
        if (random_below(r, 2))
            gate_wait(&ended, CROWD - kept);
        workers_release(&w);
        gate_wait(&ended, CROWD - kept - count_drops());
        CHECK_INT(count_crowd(), CROWD - kept);
    }
}

TESTS = {
    TEST(without_jobs_there_is_nothing),
    TEST(a_job_runs_in_another_thread),
    TEST(what_is_not_taken_is_not_run),
    TEST_ONCE(one_thread_takes_jobs_in_order),
    TEST_ONCE(as_many_run_at_once_as_may),
    TEST_ONCE(a_thread_at_rest_is_used_again),
    TEST_ONCE(an_idle_thread_ends),
    TEST_ONCE(many_idle_threads_end),
    TEST_ONCE(what_has_not_begun_is_dropped),
    TEST_ONCE(the_last_thread_frees_the_pool),
    TEST(released_workers_can_begin_anew),
    TEST_ONCE(a_job_may_release_its_own_workers),
    TEST_ONCE(an_abandoned_job_does_not_begin),
    TEST_ONCE(a_hung_job_gives_its_place_to_others),
    TEST_ONCE(an_abandoned_thread_leaves_quietly),
    TEST_ONCE(threads_have_a_name),
    TEST_ONCE(every_job_is_run_or_dropped_once),
    TESTS_END
};
