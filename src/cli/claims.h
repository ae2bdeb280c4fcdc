/*
 * claims.h - a thread that claims sessions, and the signals of a worker
 *
 * Both arrive in the worker's loop through pipes.
 */
#pragma once

#include "allm.h"

#include <pthread.h>

enum claims_news {
    CLAIMS_SESSION, /* a session, or an error in one */
    CLAIMS_ENDED    /* the thread claims no more */
};

struct claims {
    allm_store *store;
    const char *queue;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t room;     /* how many more may be claimed; under the lock */
    size_t running;  /* how many may yet become due again; under the lock */
    bool stop, once; /* under the lock; once: end when nothing is due */
    int pipe[2];
};

/* Start the thread with this much room; false: out of memory. */
bool claims_start(struct claims *c, allm_store *store, const char *queue,
                  size_t room, bool once);
/* One has ended: let it claim one more. */
void claims_make_room(struct claims *c);
/* With `once`: one has ended, and stays claimed until the worker ends. */
void claims_leave(struct claims *c);
/* Claim no more; CLAIMS_ENDED follows. */
void claims_stop(struct claims *c);
/* Wait for the thread, and free what nobody took. */
void claims_end(struct claims *c);

/* Readable: claims_take() returns what has happened. */
int claims_fd(const struct claims *c);
enum claims_news claims_take(struct claims *c, allm_session **session);

/* Readable: SIGTERM, SIGINT or SIGHUP came; claims_take_signal() says which. */
int claims_signal_fd(const struct claims *c);
int claims_take_signal(struct claims *c);
