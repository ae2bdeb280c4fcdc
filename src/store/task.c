/* task.c - a call in the store's thread that nobody waits for */
#include "store/store.h"
#include "store/store_parts.h"

#include "base/status.h"

struct store_task {
    struct store_job job;
    struct job_call call;
    allm_store *store;              /* kept */
    struct arena arena;
    /* Under the lock. */
    allm_waker *waker;
    unsigned holders;               /* the caller, and the queue */
    bool done, writes;
};

struct store_task *store_task_new(allm_store *s)
{
    struct store_task *t = mem_alloc(s->mem, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct store_task){ .store = store_keep(s), .holders = 1 };
    arena_init(&t->arena, s->mem);
    return t;
}

struct arena *store_task_arena(struct store_task *t)
{
    return &t->arena;
}

static void drop_task(struct store_task *t)
{
    allm_store *s = t->store;
    store_lock(s);
    bool last = --t->holders == 0;
    store_unlock(s);
    if (!last)
        return;
    arena_release(&t->arena);
    mem_free(s->mem, t, sizeof *t);
    store_drop(s);
}

static void end_task(struct store_job *job)
{
    struct store_task *t = (struct store_task *)(void *)job;
    allm_store *s = t->store;
    store_lock(s);
    t->done = true;
    s->wrote = s->wrote || t->writes;
    if (t->waker)
        allm_waker_ring(t->waker);
    store_unlock(s);
    drop_task(t);
}

void store_task_start(struct store_task *t,
                      const allm_error *(*fn)(struct backend *b,
                                              struct arena *a, void *ud),
                      void *ud, allm_waker *waker)
{
    t->call = (struct job_call){ .fn = fn, .arena = &t->arena, .ud = ud };
    t->call.error = store_usable(t->store, &t->arena);
    t->done = t->call.error != NULL;
    if (t->done)
        return;
    t->waker = waker;
    t->holders++;
    t->job = (struct store_job){ .call = &t->call, .ended = end_task };
    queue_put(t->store, &t->job);
}

bool store_task_done(struct store_task *t, const allm_error **error)
{
    store_lock(t->store);
    bool done = t->done;
    store_unlock(t->store);
    *error = done ? t->call.error : store_usable(t->store, &t->arena);
    return done || *error;
}

void store_task_free(struct store_task *t)
{
    if (!t)
        return;
    store_lock(t->store);
    t->waker = NULL;
    store_unlock(t->store);
    drop_task(t);
}

/* ------------------------------------------------------------- events --- */

struct writing {
    int64_t id;
    uint64_t epoch;
    struct backend_live live;
};

static const allm_error *write_here(struct backend *b, struct arena *a,
                                    void *ud)
{
    const struct writing *w = ud;
    return b->ops->put_live(b, a, w->id, w->epoch, &w->live);
}

/* Nothing depends on it: what fails is lost. */
void store_task_live(struct store_task *t, struct store_session *session,
                     const struct backend_live *live)
{
    struct writing *w = arena_zero(&t->arena, sizeof *w);
    if (w) {
        *w = (struct writing){ session->id, session->epoch, *live };
        t->writes = true;
        store_task_start(t, write_here, w, NULL);
    }
    store_task_free(t);
}
