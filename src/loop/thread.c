/* thread.c - start a thread with a name, wait for its end, pause */
#include "loop/thread.h"

#include <signal.h>
#include <sys/select.h>

#ifdef __linux__
#include <sys/prctl.h>

void thread_set_name(const char *name)
{
    prctl(PR_SET_NAME, name);
}
#else
void thread_set_name(const char *name)
{
    (void)name;
}
#endif

static void *run_thread(void *arg)
{
    struct thread *t = arg;
    thread_set_name(t->name);
    t->run(t->arg);
    return NULL;
}

int thread_start(struct thread *t, void (*run)(void *arg), void *arg,
                 const char *name)
{
    sigset_t all, before;
    t->run = run;
    t->arg = arg;
    t->name = name;
    sigfillset(&all);
    int error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error)
        return error;
    error = pthread_create(&t->id, NULL, run_thread, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void thread_join(struct thread *t)
{
    pthread_join(t->id, NULL);
}

void thread_pause(uint32_t us)
{
    struct timeval t = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
    select(0, NULL, NULL, NULL, &t);
}
