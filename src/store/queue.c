/*
 * queue.c - the store's thread: jobs in their order, appends in groups
 *
 *      add --> first ... last --> thread: calls one by one,
 *                                         appends as many as wait in one
 *                                         transaction
 *
 * Invariants
 *   (1) Jobs run in the order in which they were added.
 *   (2) A group has at most one append of a session.
 *   (3) Only the thread touches the backend.  A backend that does not block
 *       has no thread: whoever adds a job runs it, under `work`.
 *   (4) An append is reported as failed only if it is known not to be in the
 *       database, or if nobody can tell.
 */
#include "store/store.h"
#include "store/store_parts.h"

#include "base/status.h"

enum { MOST_IN_GROUP = 256, NS_PER_MS = 1000000 };

static const allm_error dead_error =
    STATUS_ERROR(ALLM_ERR_STORE, "store_unreachable",
                 "this handle of the store is dead, because its on_commit "
                 "function returned an error; open the store again");

/* ------------------------------------------------------------ the end --- */

static void run_call(allm_store *s, struct job_call *call)
{
    call->error = atomic_load(&s->dead)
                      ? &dead_error
                      : call->fn(s->backend, call->arena, call->ud);
}

static void run_call_job(allm_store *s, struct store_job *job)
{
    run_call(s, job->call);
    if (job->ended) {
        job->ended(job);
        return;
    }
    pthread_mutex_lock(&s->lock);
    job->done = true;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
}

/* ------------------------------------------------------------ a group --- */

struct group {
    size_t count;
    struct store_append *appends[MOST_IN_GROUP];
    struct backend_append *rows[MOST_IN_GROUP];
    const char *takers[MOST_IN_GROUP];
    struct store_job *orphans;      /* have ended, not dropped yet */
    struct arena arena;
};

static bool asks_commit(allm_store *s, bool durable)
{
    if (!s->on_commit)
        return true;
    if (s->on_commit(s->on_commit_ud, s->commits, durable) >= 0)
        return true;
    atomic_store(&s->dead, true);
    return false;
}

/* After a commit whose outcome nobody reported: is the append there? */
static bool is_there(allm_store *s, struct arena *a,
                     const struct store_append *p)
{
    struct backend_row row;
    bool found = false;
    const size_t last = p->columns.change_count - 1;
    const char *sum = p->changes[last].record.sum;
    const allm_error *error = s->ops->find(s->backend, a, p->session->name,
                                           true, &row, &found);
    return !error && found && !strcmp(row.sum, sum);
}

/* The outcome of each append, when commit() has failed: keeps (4). */
static void settle_unknown(allm_store *s, struct group *g, bool *there)
{
    const allm_error *error = s->ops->reopen(s->backend, &g->arena);
    for (size_t i = 0; i < g->count; i++)
        there[i] = !error && g->rows[i]->outcome == BACKEND_PENDING &&
                   is_there(s, &g->arena, g->appends[i]);
}

/* An append that was built on one that failed cannot be written. */
static void skip_orphans(allm_store *s, struct group *g)
{
    size_t n = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < g->count; i++) {
        struct store_append *p = g->appends[i];
        if (p->session->failed) {
            p->session->in_batch = false;
            append_end(p, p->session->failed);
            p->job.next = g->orphans;
            g->orphans = &p->job;
        } else {
            g->appends[n] = p;
            g->rows[n++] = &p->columns;
        }
    }
    g->count = n;
    pthread_mutex_unlock(&s->lock);
}

static void drop_orphans(struct group *g)
{
    while (g->orphans) {
        struct store_append *p = g->orphans->append;
        g->orphans = p->job.next;
        append_drop(p);
    }
}

/* Write the group.  there[i]: append i is durable. */
static const allm_error *write_group(allm_store *s, struct group *g,
                                     bool *there)
{
    const allm_error *error = s->ops->append(s->backend, &g->arena, g->rows,
                                             g->count);
    if (error)
        return error;
    s->commits++;
    if (!asks_commit(s, false)) {
        s->ops->die(s->backend);
        return &dead_error;
    }
    error = s->ops->commit(s->backend, &g->arena);
    for (size_t i = 0; i < g->count; i++)
        there[i] = !error && g->rows[i]->outcome == BACKEND_PENDING;
    if (error)
        settle_unknown(s, g, there);
    if (!asks_commit(s, true)) {
        s->ops->die(s->backend);
        memset(there, 0, g->count * sizeof *there);
        return &dead_error;
    }
    return error;
}

static const allm_error *lost_error(struct arena *a,
                                    const struct store_append *p)
{
    const char *taker = p->session->taker;
    return status_error(
        a, ALLM_ERR_SESSION, "session_lost",
        "the session \"%s\" was taken by %s, so nothing was written; free "
        "this handle and open the session again",
        p->session->name, *taker ? taker : "another holder");
}

/* Who has taken the sessions whose appends matched no row? */
static void find_takers(allm_store *s, struct group *g, const bool *there)
{
    for (size_t i = 0; i < g->count; i++)
        if (!there[i])
            g->takers[i] = lease_taker(s, &g->arena,
                                       g->appends[i]->session->name);
}

static void end_group(allm_store *s, struct group *g, const allm_error *error,
                      const bool *there)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < g->count; i++) {
        struct store_append *p = g->appends[i];
        const allm_error *mine = there[i] ? NULL : error;
        p->session->in_batch = false;
        if (!there[i] && !error) {
            lease_lose(p->session, g->takers[i]);
            mine = lost_error(&g->arena, p);
        }
        append_end(p, mine);
    }
    s->wrote = true;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < g->count; i++)
        append_drop(g->appends[i]);
}

/* The reasons that concern one append of a group, not the database. */
static bool is_of_one(const allm_error *error)
{
    return error && (!strcmp(error->reason, "record_too_large") ||
                     !strcmp(error->reason, "damaged_session"));
}

static void write_all(allm_store *s, struct group *g)
{
    bool there[MOST_IN_GROUP] = { false };
    const allm_error *error = NULL;
    if (atomic_load(&s->dead))
        error = &dead_error;
    else if (g->count)
        error = write_group(s, g, there);
    if (!error)
        find_takers(s, g, there);
    if (g->count == 1 || !is_of_one(error)) {
        end_group(s, g, error, there);
        return;
    }
    for (size_t i = 0; i < g->count; i++) {     /* find the one: each alone */
        struct group one = { .count = 1, .appends = { g->appends[i] },
                             .rows = { g->rows[i] } };
        arena_init(&one.arena, s->mem);
        write_all(s, &one);
        arena_release(&one.arena);
    }
}

static void run_group(allm_store *s, struct group *g)
{
    arena_init(&g->arena, s->mem);
    g->orphans = NULL;
    skip_orphans(s, g);
    write_all(s, g);
    drop_orphans(g);
    arena_release(&g->arena);
}

/* May this append join the group?  Locked. */
static bool joins_group(struct group *g, struct store_append *p)
{
    struct store_session *t = p->session;
    if (g->count == MOST_IN_GROUP || t->in_batch)       /* keeps (2) */
        return false;
    t->in_batch = true;
    g->rows[g->count] = &p->columns;
    g->appends[g->count++] = p;
    return true;
}

/* --------------------------------------------------------- the thread --- */

/* Take jobs off the queue: a call, or a group.  Locked. */
static struct store_job *take_jobs(allm_store *s, struct group *g)
{
    g->count = 0;
    while (s->first) {
        struct store_job *job = s->first;
        if (job->append ? !joins_group(g, job->append) : g->count > 0)
            break;
        s->first = job->next;
        if (!s->first)
            s->last = &s->first;
        if (!job->append)
            return job;
    }
    return NULL;
}

/* All jobs that are there; there may always be more of them, so leases are
 * renewed in between.  Locked before and after. */
static void run_jobs(allm_store *s)
{
    for (bool more = false; s->first; more = true) {
        struct group g;
        struct store_job *call = take_jobs(s, &g);
        pthread_mutex_unlock(&s->lock);
        if (more)
            watch_store(s);
        if (call)
            run_call_job(s, call);
        else
            run_group(s, &g);
        pthread_mutex_lock(&s->lock);
    }
}

static void wait_for_jobs(allm_store *s)
{
    struct poll_ready ready;
    bool readable = false;
    int64_t timeout_ns = watch_store(s);
    /* it may be another descriptor each time */
    int fd = timeout_ns >= 0 && s->ops->socket ? s->ops->socket(s->backend)
                                               : -1;
    if (fd >= 0 && poll_add(&s->poll, fd, POLL_READ, &s->backend))
        fd = -1;
    if (fd >= 0 && s->ops->hear(s->backend, false)) {
        watch_now(s);           /* it was read with the answer to a statement */
        timeout_ns = 0;
    }
    if (poll_wait(&s->poll, timeout_ns) == 0)
        while (poll_next(&s->poll, &ready)) {
            readable = readable || ready.tag == &s->backend;
            if (ready.tag == &s->wake)
                wake_clear(&s->wake);
        }
    if (fd < 0)
        return;
    poll_remove(&s->poll, fd, &s->backend);
    if (s->ops->hear(s->backend, readable))
        watch_now(s);
}

static void run_store(void *arg)
{
    allm_store *s = arg;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        run_jobs(s);
        if (s->closing)
            break;
        pthread_mutex_unlock(&s->lock);
        wait_for_jobs(s);
        pthread_mutex_lock(&s->lock);
    }
    bool mine = s->frees_itself;
    pthread_mutex_unlock(&s->lock);
    if (!mine)
        return;
    pthread_detach(pthread_self());
    store_destroy(s);
}

/* ----------------------------------------------------------- the door --- */

int queue_start(allm_store *s)
{
    s->last = &s->first;
    if (!s->ops->blocks)
        return 0;
    int error = poll_init(&s->poll);
    if (error)
        return error;
    error = wake_init(&s->wake);
    if (error) {
        poll_release(&s->poll);
        return error;
    }
    error = poll_add(&s->poll, wake_fd(&s->wake), POLL_READ, &s->wake);
    if (!error)
        error = thread_start(&s->thread, run_store, s, "allm-store");
    s->has_thread = !error;
    if (error)
        queue_release(s);
    return error;
}

void queue_release(allm_store *s)
{
    wake_release(&s->wake);
    poll_release(&s->poll);
}

void queue_stop(allm_store *s)
{
    if (!s->has_thread) {
        store_destroy(s);
        return;
    }
    bool here = pthread_equal(pthread_self(), s->thread.id);
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    s->frees_itself = here;
    pthread_mutex_unlock(&s->lock);
    if (here)
        return;                 /* run_store() ends, and destroys it */
    wake_ring(&s->wake);
    thread_join(&s->thread);
    store_destroy(s);
}

/* Keeps (3) where there is no thread. */
static void run_here(allm_store *s, struct store_job *job)
{
    struct group g;             /* large: only what is used is set */
    g.count = 0;
    pthread_mutex_lock(&s->work);
    if (job->append) {
        joins_group(&g, job->append);
        run_group(s, &g);
    } else {
        run_call_job(s, job);
    }
    pthread_mutex_unlock(&s->work);
}

void queue_put(allm_store *s, struct store_job *job)
{
    job->next = NULL;
    job->done = false;
    if (!s->ops->blocks) {
        run_here(s, job);
        return;
    }
    pthread_mutex_lock(&s->lock);
    bool first = !s->first;
    *s->last = job;
    s->last = &job->next;
    pthread_mutex_unlock(&s->lock);
    if (first)
        queue_wake(s);
}

void queue_wake(allm_store *s)
{
    if (s->has_thread)
        wake_ring(&s->wake);
}

void queue_wait(allm_store *s, struct store_job *job)
{
    pthread_mutex_lock(&s->lock);
    while (!job->done)
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}
