/*
 * lease.c - sessions of a store that are open: held, or only read
 *
 *      open, claim --> held --> changed by appends --> released
 *                        |
 *                        '--> lost: another holder has taken it
 *
 * Invariants
 *   (1) A session that is held is in store->held, until its lease is released.
 *   (2) The lease is released once: by store_session_release(), or when the
 *       last user drops the session, behind all appends that are under way and
 *       before everything that is queued later.
 *   (3) A session that was dropped is in `ending` until its lease is released:
 *       another handle of this process waits for that, so that nobody finds a
 *       session locked that was freed before.  A child of fork() has no thread
 *       that releases it, and does not wait.
 */
#include "store/store.h"
#include "store/store_parts.h"

#include "base/status.h"

#include <stdio.h>

/* MOST_READS: of a session that another holder changes again and again. */
enum { PAUSE_US = 50000, ENDING_US = 200, MOST_READS = 20 };

static pthread_mutex_t ending_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_session *ending;

/* --------------------------------------------------------------- life --- */

void lease_ring(struct store_session *t)
{
    if (t->waker)
        allm_waker_ring(t->waker);
}

const char *lease_taker(allm_store *s, struct arena *a, const char *name)
{
    struct backend_row row = { 0 };
    bool found = false;
    if (s->ops->find(s->backend, a, name, true, &row, &found) || !found)
        return NULL;
    return row.holder;
}

void lease_lose(struct store_session *t, const char *taker)
{
    t->lost = true;
    if (taker)
        snprintf(t->taker, sizeof t->taker, "%s", taker);
}

static void forget(struct store_session **list, const struct store_session *t)
{
    while (*list && *list != t)
        list = &(*list)->next;
    if (*list)
        *list = t->next;
}

static void destroy_session(struct store_session *t)
{
    allm_store *s = t->store;
    append_destroy(t->spare);
    arena_release(&t->columns_arena[0]);
    arena_release(&t->columns_arena[1]);
    arena_release(&t->failed_arena);
    arena_release(&t->arena);
    mem_free(s->mem, t, sizeof *t);
    store_drop(s);
}

void lease_keep(struct store_session *t)
{
    atomic_fetch_add_explicit(&t->holders, 1, memory_order_relaxed);
}

void lease_drop(struct store_session *t)
{
    if (atomic_fetch_sub_explicit(&t->holders, 1, memory_order_acq_rel) == 1 &&
        store_is_ours(t->store))
        destroy_session(t);
}

/* Keeps (3), with forget_ending(). */
static void note_ending(struct store_session *t)
{
    pthread_mutex_lock(&ending_lock);
    t->next = ending;
    ending = t;
    pthread_mutex_unlock(&ending_lock);
}

static void forget_ending(const struct store_session *t)
{
    pthread_mutex_lock(&ending_lock);
    forget(&ending, t);
    pthread_mutex_unlock(&ending_lock);
}

void lease_before_fork(void)
{
    pthread_mutex_lock(&ending_lock);
}

void lease_after_fork(bool child)
{
    if (child)
        ending = NULL;
    pthread_mutex_unlock(&ending_lock);
}

/* What this handle releases is released before whatever it does next. */
static bool is_ending(const allm_store *s, const char *name)
{
    pthread_mutex_lock(&ending_lock);
    const struct store_session *t = ending;
    while (t && (t->store == s || t->store->ops != s->ops || !t->name ||
                 strcmp(t->name, name) != 0))
        t = t->next;
    pthread_mutex_unlock(&ending_lock);
    return t != NULL;
}

void store_session_await(const allm_store *s, const char *name)
{
    int64_t end = clock_after(clock_now_ns(clock_real()), s->opts.busy_ms);
    while (is_ending(s, name) && clock_now_ns(clock_real()) < end)
        thread_pause(ENDING_US);
}

static const allm_error *release_lease(struct backend *b, struct arena *a,
                                       void *ud)
{
    const struct store_session *t = ud;
    return b->ops->release(b, a, t->id, t->epoch, false);
}

static void end_release(struct store_job *job)
{
    struct store_session *t =
        (struct store_session *)(void *)((char *)job -
                                         offsetof(struct store_session, job));
    forget_ending(t);
    lease_drop(t);
}

/* It is no longer watched.  Was it released before?  Locked. */
static bool end_lease(struct store_session *t)
{
    bool release = t->held && !t->released;
    t->released = true;
    t->waker = NULL;
    forget(&t->store->held, t);
    return release;
}

/* Keeps (2). */
void store_session_drop(struct store_session *t)
{
    if (!t)
        return;
    allm_store *s = t->store;
    store_lock(s);
    bool last = --t->users == 0;
    bool release = last && end_lease(t);
    store_unlock(s);
    if (!last || !store_is_ours(s))
        return;
    if (!release) {
        lease_drop(t);
        return;
    }
    store_keep(s);
    t->call =
        (struct job_call){ .fn = release_lease, .arena = &t->arena,
                                 .ud = t };
    t->job = (struct store_job){ .call = &t->call, .ended = end_release };
    note_ending(t);
    queue_put(s, &t->job);
    store_drop(s);
}

struct store_session *store_session_keep(struct store_session *t)
{
    store_lock(t->store);
    t->users++;
    store_unlock(t->store);
    return t;
}

/* ------------------------------------------------------------ loading --- */

struct opening {
    const char *name, *queue, *uid;
    uint32_t flags;
    bool again;                 /* it is held, or read, already */
    struct store_loaded *loaded;
    bool taken;
    bool refused;               /* it is held by another handle */
};

/* Load a session that is only read: it is read again if its holder wrote
 * meanwhile, since the reads are not one transaction. */
static const allm_error *read_session(struct backend *b, struct arena *a,
                                      const struct opening *o)
{
    struct store_loaded *l = o->loaded;
    const allm_error *error = NULL;
    bool found = false;
    for (int i = 0; i < MOST_READS; i++) {
        *l = (struct store_loaded){ 0 };
        error = b->ops->find(b, a, o->name, o->again, &l->row, &found);
        if (error || !found)
            return error;
        error = load_session(b, a, l);
        if (!error || !store_row_has_moved(b, a, &l->row))
            return error;
    }
    return error;
}

/* Take it, and load it. */
static const allm_error *take_session(struct backend *b, struct arena *a,
                                      struct opening *o)
{
    struct store_loaded *l = o->loaded;
    const char *uid = o->flags & ALLM_SESSION_CREATE ? o->uid : NULL;
    const allm_error *error =
        o->queue
            ? b->ops->claim(b, a, o->queue, &l->row, &l->after, &o->taken)
            : b->ops->take(b, a, o->name, uid, &l->row, &l->after, &o->taken);
    o->refused = !o->taken;
    if (error || o->refused)
        return error;
    error = load_session(b, a, l);
    if (error)                  /* this handle cannot use it */
        b->ops->release(b, a, l->row.id, l->row.epoch, false);
    return error;
}

/* In the store's thread. */
static const allm_error *open_here(struct backend *b, struct arena *a, void *ud)
{
    struct opening *o = ud;
    *o->loaded = (struct store_loaded){ 0 };
    return o->queue || o->flags ? take_session(b, a, o) : read_session(b, a, o);
}

/* ------------------------------------------------------------ opening --- */

static const allm_error *not_found(struct arena *a, const char *name)
{
    return status_error(a, ALLM_ERR_SESSION, "session_not_found",
                        "there is no session \"%s\" in this store", name);
}

static const allm_error *locked_error(struct arena *a,
                                      const struct backend_row *row)
{
    char since[32], until[48] = "";
    record_time(row->taken, since);
    if (row->until) {
        char end[32];
        record_time(row->until, end);
        snprintf(until, sizeof until, " until %s", end);
    }
    return status_error(
        a, ALLM_ERR_SESSION, "session_locked",
        "the session \"%s\" is held by %s since %s%s; wait until it is "
        "released, or end that process",
        row->name, row->holder ? row->holder : "another holder", since, until);
}

/* What the database says becomes the state of the handle. */
static bool take_row(struct store_session *t, const struct backend_row *row)
{
    bool stuck = row->waits && !strcmp(row->waits, BACKEND_STUCK);
    struct arena *a = &t->columns_arena[t->columns_at ^= 1];
    arena_reset(a);
    a->broken = false;
    t->head = row->head;
    snprintf(t->sum, sizeof t->sum, "%s", row->sum ? row->sum : "");
    t->columns = (struct backend_append){
        .open = row->open,
        .due = row->due != 0 || (stuck && row->open),
        .queued = row->queue != NULL,
        .waits = stuck ? NULL : arena_text(a, row->waits),
        .status = arena_text(a, row->status),
        .title = arena_text(a, row->title),
        .model = arena_text(a, row->model),
        .messages = row->messages,
    };
    return !a->broken;
}

/* A session that is not opened yet: made before the lease is taken, so that
 * nothing can fail afterwards that would leave it taken. */
static struct store_session *new_session(allm_store *s)
{
    struct store_session *t = mem_alloc(s->mem, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct store_session){ .users = 1, .holders = 1,
                                 .store = store_keep(s) };
    arena_init(&t->arena, s->mem);
    arena_init(&t->failed_arena, s->mem);
    arena_init(&t->columns_arena[0], s->mem);
    arena_init(&t->columns_arena[1], s->mem);
    return t;
}

static bool fill_session(struct store_session *t, const struct backend_row *row,
                         bool held)
{
    allm_store *s = t->store;
    t->id = row->id;
    t->epoch = row->epoch;
    t->cancel = row->cancel;
    t->held = held;
    t->name = arena_text(&t->arena, row->name);
    t->uid = arena_text(&t->arena, row->uid);
    pthread_mutex_lock(&s->lock);
    if (held) {
        t->next = s->held;
        s->held = t;            /* keeps (1) */
    }
    pthread_mutex_unlock(&s->lock);
    if (held)
        queue_wake(s);          /* it is watched from now on */
    return take_row(t, row) && t->name && t->uid;
}

void store_make_uid(char out[STORE_UID_LEN + 1])
{
    unsigned char bytes[STORE_UID_LEN / 2] = { 0 };
    random_fill(random_system(), bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static const allm_error *finish_opening(const struct opening *o,
                                        struct arena *a,
                                        struct store_session *t)
{
    const struct backend_row *row = &o->loaded->row;
    if (o->refused && o->queue)
        return status_error(a, ALLM_ERR_SESSION, "nothing_due",
                            "no session of the queue \"%s\" is due", o->queue);
    if (o->refused && row->id)
        return locked_error(a, row);
    if (!row->id)
        return not_found(a, o->name);
    return fill_session(t, row, o->taken) ? NULL : status_nomem();
}

/* Open or claim it, waiting until `end` for a session that is due. */
static const allm_error *open_session(allm_store *s, struct arena *a,
                                      struct opening *o, int64_t end,
                                      struct store_session **out)
{
    struct store_session *t = new_session(s);
    const allm_error *error = t ? store_call(s, open_here, a, o)
                                : status_nomem();
    while (!error && o->refused && o->queue &&
           clock_now_ns(clock_real()) < end) {
        thread_pause(PAUSE_US);
        error = store_call(s, open_here, a, o);
    }
    if (!error)
        error = finish_opening(o, a, t);
    if (error)
        store_session_drop(t);
    *out = error ? NULL : t;
    return error;
}

const allm_error *store_session_open(allm_store *s, struct arena *a,
                                     const char *name, uint32_t flags,
                                     struct store_loaded *loaded,
                                     struct store_session **out)
{
    char uid[STORE_UID_LEN + 1];
    struct opening o = { .name = name, .uid = uid, .flags = flags,
                         .loaded = loaded };
    const uint32_t known = ALLM_SESSION_LOCK | ALLM_SESSION_CREATE;
    *out = NULL;
    const allm_error *error = flags ? store_writable(s, a) : store_usable(s, a);
    if (!error && flags & ~known)
        error = status_error(a, ALLM_ERR_MISUSE, "invalid_options",
                             "the flags of a session in a store are "
                             "ALLM_SESSION_LOCK and ALLM_SESSION_CREATE");
    if (!error)
        error = store_check_name(a, name);
    if (error)
        return error;
    if (flags)
        store_session_await(s, name);
    store_make_uid(uid);
    return open_session(s, a, &o, 0, out);
}

const allm_error *store_session_claim(allm_store *s, struct arena *a,
                                      const char *queue, uint32_t wait_ms,
                                      struct store_loaded *loaded,
                                      struct store_session **out)
{
    struct opening o = { .queue = queue, .loaded = loaded };
    *out = NULL;
    const allm_error *error = store_writable(s, a);
    if (error)
        return error;
    int64_t end = clock_after(clock_now_ns(clock_real()), wait_ms);
    return open_session(s, a, &o, end, out);
}

const allm_error *store_session_reload(struct store_session *t, struct arena *a,
                                       struct store_loaded *loaded)
{
    struct opening o = { .name = t->name, .again = true, .loaded = loaded };
    const allm_error *error = store_call(t->store, open_here, a, &o);
    if (error)
        return error;
    if (!loaded->row.id)
        return not_found(a, t->name);
    if (!take_row(t, &loaded->row))
        return status_nomem();
    pthread_mutex_lock(&t->store->lock);
    t->failed = NULL;
    t->lost = t->lost || (t->held && loaded->row.epoch != t->epoch);
    pthread_mutex_unlock(&t->store->lock);
    return NULL;
}

/* ---------------------------------------------------------- questions --- */

allm_store *store_session_store(const struct store_session *t)
{
    return t->store;
}

const char *store_session_name(const struct store_session *t)
{
    return t->name;
}

const char *store_session_uid(const struct store_session *t)
{
    return t->uid;
}

uint64_t store_session_epoch(const struct store_session *t)
{
    return t->epoch;
}

bool store_session_is_held(const struct store_session *t)
{
    return t->held;
}

uint64_t store_session_head(const struct store_session *t)
{
    return t->head;
}

void store_session_watch(struct store_session *t, allm_waker *waker)
{
    store_lock(t->store);
    t->waker = waker;
    store_unlock(t->store);
}

static const allm_error *taken_error(const struct store_session *t,
                                     struct arena *a)
{
    store_lock(t->store);
    const char *taker = arena_text(a, t->taker);
    store_unlock(t->store);
    return status_error(a, ALLM_ERR_SESSION, "session_lost",
                        "%s has taken the session \"%s\"; free this handle "
                        "and open the session again",
                        taker && *taker ? taker : "another holder", t->name);
}

const allm_error *store_session_gone(const struct store_session *t,
                                     struct arena *a)
{
    const allm_error *error = store_usable(t->store, a);
    if (error)
        return error;
    if (t->released)
        return status_error(a, ALLM_ERR_SESSION, "session_released",
                            "this handle has released the session \"%s\"; "
                            "open it again",
                            t->name);
    if (t->lost)
        return taken_error(t, a);
    if (!t->held)
        return status_error(a, ALLM_ERR_SESSION, "session_read_only",
                            "the session \"%s\" was opened for reading; open "
                            "it with ALLM_SESSION_LOCK to change it",
                            t->name);
    return NULL;
}

bool store_session_cancelled(const struct store_session *t, uint64_t begin)
{
    return begin && t->cancel == begin;
}

/* ---------------------------------------------------------- releasing --- */

struct releasing {
    struct store_session *session;
    bool due;
};

static const allm_error *release_here(struct backend *b, struct arena *a,
                                      void *ud)
{
    const struct releasing *r = ud;
    return b->ops->release(b, a, r->session->id, r->session->epoch, r->due);
}

const allm_error *store_session_release(struct store_session *t,
                                        struct arena *a, bool due)
{
    struct releasing r = { t, due };
    store_lock(t->store);
    bool release = end_lease(t);
    store_unlock(t->store);
    return release ? store_call(t->store, release_here, a, &r) : NULL;
}
