/* thread.h - start a thread with a name, wait for its end, pause */
#pragma once

#include <pthread.h>
#include <stdint.h>

struct thread {
    pthread_t id;
    void (*run)(void *arg);
    void *arg;
    const char *name;           /* 15 characters count; lives as long */
};

/* Start it with all signals blocked.  The struct must stay where it is until
 * thread_join().  Returns 0 or an errno. */
int thread_start(struct thread *t, void (*run)(void *arg), void *arg,
                 const char *name);
void thread_join(struct thread *t);

/* Name the calling thread, where the system has names for threads. */
void thread_set_name(const char *name);

/* Let the calling thread wait, for microseconds; a signal may end it. */
void thread_pause(uint32_t us);
