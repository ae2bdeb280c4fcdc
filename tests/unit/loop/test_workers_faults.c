/*
 * test_workers_faults.c - a system that has no threads or locks left
 *
 * The program's own functions take the place of the system's.
 */
#define _GNU_SOURCE             /* RTLD_NEXT */
#include "loop/workers.h"

#include "harness/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

/* ------------------------------------------------------ a stingy system --- */

static bool no_threads;

int pthread_create(pthread_t *thread, const pthread_attr_t *how,
                   void *(*work)(void *), void *arg)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                  void *);
    if (no_threads)
        return EAGAIN;
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&create, &found, sizeof create);
    return create(thread, how, work, arg);
}

static int bad_clock;

int pthread_condattr_setclock(pthread_condattr_t *how, clockid_t clock)
{
    (void)how;
    (void)clock;
    return bad_clock;
}

/* ----------------------------------------------------------------- jobs --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done;

static void run_task(struct job *job)
{
    (void)job;
    pthread_mutex_lock(&lock);          /* a test may hold it */
    pthread_mutex_unlock(&lock);
}

static void finish_task(struct job *job)
{
    (void)job;
    pthread_mutex_lock(&lock);
    done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(int count)
{
    pthread_mutex_lock(&lock);
    while (done < count)
        pthread_cond_wait(&changed, &lock);
    done = 0;
    pthread_mutex_unlock(&lock);
}

static struct job make_job(void)
{
    return (struct job){ run_task, finish_task, NULL, NULL };
}

/* ---------------------------------------------------------------- tests --- */

static void without_a_thread_the_job_is_the_callers(void)
{
    struct job job = make_job();
    struct workers w;
    workers_init(&w, mem_default(), 2, INT64_MAX, "allm-test");
    no_threads = true;
    int error = workers_submit(&w, &job);
    no_threads = false;
    CHECK_INT(error, EAGAIN);
    CHECK_ALWAYS(error);
    CHECK_ALWAYS(workers_busy(&w) == 0);
    CHECK_ALWAYS(!workers_abandon(&w, &job));
    if (workers_submit(&w, &job) == 0)          /* there is one now */
        wait_for(1);
    workers_release(&w);
}

static void one_thread_does_the_work_of_two(void)
{
    struct job a = make_job(), b = make_job();
    struct workers w;
    workers_init(&w, mem_default(), 2, INT64_MAX, "allm-test");
    pthread_mutex_lock(&lock);
    int error = workers_submit(&w, &a);
    if (!error) {
        no_threads = true;
        CHECK_ALWAYS(workers_submit(&w, &b) == 0);
        no_threads = false;
    }
    pthread_mutex_unlock(&lock);
    wait_for(error ? 0 : 2);
    workers_release(&w);
}

static void without_a_lock_there_are_no_workers(void)
{
    struct job job = make_job();
    struct workers w;
    workers_init(&w, mem_default(), 0, 0, "allm-test");
    bad_clock = EINVAL;
    int error = workers_submit(&w, &job);
    bad_clock = 0;
    CHECK_INT(error, EINVAL);
    CHECK_ALWAYS(error && done == 0);
    CHECK_ALWAYS(check_live_blocks() == 0);
    workers_release(&w);
}

TESTS = {
    TEST(without_a_thread_the_job_is_the_callers),
    TEST(one_thread_does_the_work_of_two),
    TEST(without_a_lock_there_are_no_workers),
    TESTS_END
};
