/*
 * batch_shared.c - state shared by the runs of a batch; may outlive it
 *
 *      batch ----.
 *      job   ----+--> shared (a home) --> runs, arguments, context
 *      defer ----'
 *
 * The waker belongs to a stream that may be freed at any time.  It is rung only
 * under the lock, and batch_shared_close() removes it under the lock; so a
 * thread that answers late never uses freed memory.
 */
#include "tool/batch_shared.h"

#include "json/json.h"

static void destroy_lock(void *arg)
{
    pthread_mutex_destroy(&((struct batch_shared *)arg)->lock);
}

static bool fill_shared(struct batch_shared *d, const struct tool_env *env)
{
    struct arena *a = home_arena(d->home);
    d->env = *env;
    d->waker = env->waker;
    d->context = env->context ? json_copy(a, env->context)
                              : json_empty_object();
    d->session_id = arena_text(a, env->session_id);
    d->request_id = arena_text(a, env->request_id);
    d->env.key_prefix = arena_text(a, env->key_prefix);
    atomic_init(&d->closed, false);
    return !a->broken && !pthread_mutex_init(&d->lock, NULL);
}

struct batch_shared *batch_shared_new(const struct tool_env *env)
{
    struct allm_home *home = home_new(env->mem, 2048);
    struct batch_shared *d = home ? arena_zero(home_arena(home), sizeof *d)
                                  : NULL;
    if (!d) {
        home_drop(home);
        return NULL;
    }
    d->home = home;
    if (!fill_shared(d, env)) {
        home_drop(home);
        return NULL;
    }
    if (!home_on_free(home, destroy_lock, d)) {
        home_drop(home);
        return NULL;
    }
    return d;
}

void batch_shared_keep(struct batch_shared *d)
{
    home_keep(d->home);
}

void batch_shared_drop(struct batch_shared *d)
{
    if (d)
        home_drop(d->home);
}

void batch_shared_close(struct batch_shared *d)
{
    atomic_store(&d->closed, true);
    pthread_mutex_lock(&d->lock);
    d->waker = NULL;
    pthread_mutex_unlock(&d->lock);
}

void batch_shared_ring(struct batch_shared *d)
{
    if (d->waker)
        d->env.ring(d->waker);
}
