/* store.c - the handle of a store: its URI, its options, its errors */
#include "store/store.h"
#include "store/store_parts.h"

#include "base/caller_struct.h"
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { LEASE_MS = 30000, BUSY_MS = 10000, LIVE_MS = 100, NAME_MOST = 128 };

static const allm_error forked_error =
    STATUS_ERROR(ALLM_ERR_STORE, "store_forked",
                 "this store was opened before fork(), so only the parent "
                 "process can use it; open a store after fork()");

/* --------------------------------------------------------------- fork --- */

/* How often this process is a child of a process that had a store.  getpid()
 * would be a system call for every lock. */
static atomic_uint forks;
static bool forks_counted;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static void in_parent(void)
{
    lease_after_fork(false);
}

static void in_child(void)
{
    atomic_fetch_add(&forks, 1);
    lease_after_fork(true);
}

static void begin_counting(void)
{
    forks_counted = !pthread_atfork(lease_before_fork, in_parent, in_child);
}

bool store_is_ours(const allm_store *s)
{
    return forks_counted ? s->forks == atomic_load(&forks) : s->pid == getpid();
}

void store_lock(allm_store *s)
{
    if (store_is_ours(s))
        pthread_mutex_lock(&s->lock);
}

void store_unlock(allm_store *s)
{
    if (store_is_ours(s))
        pthread_mutex_unlock(&s->lock);
}

/* --------------------------------------------------------------- life --- */

allm_store *store_keep(allm_store *s)
{
    atomic_fetch_add_explicit(&s->holders, 1, memory_order_relaxed);
    return s;
}

void store_destroy(allm_store *s)
{
    struct mem mem = s->mem;
    if (s->backend)
        s->ops->close(s->backend);
    if (s->has_thread)
        queue_release(s);
    while (s->errors) {
        struct store_error *next = s->errors->next;
        arena_release(&s->errors->arena);
        mem_free(mem, s->errors, sizeof *s->errors);
        s->errors = next;
    }
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->work);
    arena_release(&s->arena);
    mem_free(mem, s, sizeof *s);
}

void store_drop(allm_store *s)
{
    if (store_is_ours(s) &&
        atomic_fetch_sub_explicit(&s->holders, 1, memory_order_acq_rel) == 1)
        queue_stop(s);
}

static const allm_error *do_nothing(struct backend *b, struct arena *a,
                                    void *ud)
{
    (void)b;
    (void)a;
    (void)ud;
    return NULL;
}

/* Wait for jobs that nobody waits for, and for those that they add: the
 * release of a session follows its last append. */
static void flush(allm_store *s)
{
    if (!s->has_thread || pthread_equal(pthread_self(), s->thread.id))
        return;
    store_call(s, do_nothing, &s->arena, NULL);
    store_call(s, do_nothing, &s->arena, NULL);
}

void allm_store_free(allm_store *s)
{
    if (!s || !store_is_ours(s))
        return;
    flush(s);
    store_drop(s);
}

/* A lock that a job may take again: releasing a lease can follow an append. */
static bool init_locks(allm_store *s)
{
    pthread_mutexattr_t how;
    if (pthread_mutexattr_init(&how))
        return false;
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    bool ok = !pthread_mutex_init(&s->work, &how);
    pthread_mutexattr_destroy(&how);
    if (ok && pthread_mutex_init(&s->lock, NULL)) {
        pthread_mutex_destroy(&s->work);
        return false;
    }
    if (ok && pthread_cond_init(&s->done, NULL)) {
        pthread_mutex_destroy(&s->lock);
        pthread_mutex_destroy(&s->work);
        return false;
    }
    return ok;
}

/* "host:pid", for people. */
static const char *name_holder(struct arena *a)
{
    char host[128] = "", text[192];
    if (gethostname(host, sizeof host - 1))
        snprintf(host, sizeof host, "unknown");
    snprintf(text, sizeof text, "%s:%ld", host, (long)getpid());
    return arena_text(a, text);
}

static allm_store *make_store(const allm_store_opts *given)
{
    struct mem mem = mem_from(given->allocator);
    allm_store *s = mem_alloc(mem, sizeof *s);
    if (!s)
        return NULL;
    pthread_once(&forks_once, begin_counting);
    *s = (allm_store){
        .mem = mem,
        .pid = getpid(),
        .forks = atomic_load(&forks),
        .live_ms = given->live_ms ? given->live_ms : LIVE_MS,
        .on_commit = given->on_commit,
        .on_commit_ud = given->on_commit_ud,
        .opts = { .mem = mem, .clock = clock_real(), .flags = given->flags,
                  .lease_ms = given->lease_ms ? given->lease_ms : LEASE_MS,
                  .busy_ms = given->busy_ms ? given->busy_ms : BUSY_MS },
    };
    atomic_init(&s->holders, 1);
    atomic_init(&s->dead, false);
    if (!init_locks(s)) {
        mem_free(mem, s, sizeof *s);
        return NULL;
    }
    arena_init(&s->arena, mem);
    s->last = &s->first;
    s->opts.holder = given->holder ? arena_text(&s->arena, given->holder)
                                   : name_holder(&s->arena);
    return s;
}

/* --------------------------------------------------------------- URIs --- */

struct scheme {
    const char *prefix;
    const struct backend_ops *ops;  /* NULL: not part of this build */
    bool whole;                     /* the backend gets the whole URI */
};

static const struct scheme schemes[] = {
    { "memory:", &memory_backend, false },
#if ALLM_SQLITE
    { "sqlite:", &sqlite_backend, false },
#else
    { "sqlite:", NULL, false },
#endif
#if ALLM_POSTGRES
    { "postgresql://", &postgres_backend, true },
    { "postgres://", &postgres_backend, true },
#else
    { "postgresql://", NULL, true },
    { "postgres://", NULL, true },
#endif
};

static const allm_error *find_scheme(struct arena *a, const char *uri,
                                     const struct scheme **out)
{
    struct slice text = slice_of(uri);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        *out = &schemes[i];
        if (!slice_starts(text, slice_of((*out)->prefix)))
            continue;
        if ((*out)->ops)
            return NULL;
        return status_error(a, ALLM_ERR_STORE, "unsupported_store",
                            "this build of allm has no support for stores that "
                            "begin with \"%s\"; build it with that option",
                            (*out)->prefix);
    }
    return status_error(a, ALLM_ERR_STORE, "invalid_store_uri",
                        "a store is memory:, sqlite:PATH or postgresql://...; "
                        "this URI begins with none of these");
}

static const allm_error *open_here(struct backend *b, struct arena *a, void *ud)
{
    allm_store *s = ud;
    (void)b;
    return s->ops->open(a, s->rest, &s->opts, &s->backend);
}

static const allm_error *open_backend(allm_store *s,
                                      const struct backend_ops *ops,
                                      const char *rest)
{
    s->ops = ops;
    s->rest = arena_text(&s->arena, rest);
    if (!s->rest || !s->opts.holder)
        return status_nomem();
    int why = queue_start(s);
    if (why)
        return status_error(&s->arena, ALLM_ERR_STORE, "store_unreachable",
                            "the thread of the store could not be started: "
                            "%s; raise the limits of this process",
                            why == ENOMEM ? "out of memory"
                                          : "too many threads or descriptors");
    const allm_error *error = store_call(s, open_here, &s->arena, s);
    if (!error) {
        s->backend->news = watch_tell;
        s->backend->news_ud = s;
    }
    return error;
}

allm_store *store_open_with(const struct backend_ops *ops, const char *rest,
                            const allm_store_opts *opts)
{
    allm_store_opts given;
    caller_struct_take(&given, sizeof given, opts);
    allm_store *s = make_store(&given);
    if (s)
        s->refused = open_backend(s, ops, rest);
    return s;
}

static const allm_error *open_store(allm_store *s, const char *uri)
{
    const struct scheme *scheme = NULL;
    const allm_error *error = find_scheme(&s->arena, uri ? uri : "", &scheme);
    size_t skipped = error || scheme->whole ? 0 : strlen(scheme->prefix);
    return error ? error : open_backend(s, scheme->ops, uri + skipped);
}

allm_store *allm_store_open(const char *uri, const allm_store_opts *opts)
{
    allm_store_opts given;
    bool known = caller_struct_take(&given, sizeof given, opts);
    allm_store *s = make_store(&given);
    if (!s)
        return NULL;
    if (!known)
        s->refused = status_error(&s->arena, ALLM_ERR_MISUSE, "invalid_options",
                                  "the options of the store are not filled in; "
                                  "use ALLM(store_opts, ...)");
    else if (given.flags & ~(uint32_t)(ALLM_STORE_READ | ALLM_STORE_NO_CREATE))
        s->refused = status_error(&s->arena, ALLM_ERR_MISUSE, "invalid_options",
                                  "allm_store_open: the flags are "
                                  "ALLM_STORE_READ and ALLM_STORE_NO_CREATE");
    else
        s->refused = open_store(s, uri);
    return s;
}

const char *allm_store_schema(const allm_store *s)
{
    return s && s->ops ? s->ops->schema : "";
}

/* ------------------------------------------------------------- errors --- */

static struct store_error *error_of_thread(const allm_store *s)
{
    struct store_error *e = s->errors;
    while (e && !pthread_equal(e->thread, pthread_self()))
        e = e->next;
    return e;
}

const allm_error *allm_store_error(const allm_store *s)
{
    if (!s)
        return status_nomem();
    if (s->refused)
        return s->refused;
    if (!store_is_ours(s))
        return &forked_error;
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&s->lock;
    pthread_mutex_lock(lock);
    struct store_error *e = error_of_thread(s);
    pthread_mutex_unlock(lock);
    return e ? e->error : NULL;
}

/* The place for errors of this thread; NULL: no memory. */
static struct store_error *place_for_error(allm_store *s)
{
    struct store_error *e = error_of_thread(s);
    if (e || !(e = mem_alloc(s->mem, sizeof *e)))
        return e;
    *e = (struct store_error){ .next = s->errors, .thread = pthread_self() };
    arena_init(&e->arena, s->mem);
    s->errors = e;
    return e;
}

allm_status store_fail(allm_store *s, const allm_error *error)
{
    if (!store_is_ours(s))
        return ALLM_ERR_STORE;
    pthread_mutex_lock(&s->lock);
    struct store_error *e = error ? place_for_error(s) : error_of_thread(s);
    pthread_mutex_unlock(&s->lock);
    if (e) {
        arena_reset(&e->arena);
        e->error = error ? status_retell(&e->arena, error) : NULL;
    }
    return error ? error->kind : ALLM_OK;
}

const allm_error *store_usable(const allm_store *s, struct arena *a)
{
    if (s->refused)
        return status_retell(a, s->refused);
    return store_is_ours(s) ? NULL : &forked_error;
}

const allm_error *store_writable(const allm_store *s, struct arena *a)
{
    const allm_error *error = store_usable(s, a);
    if (error || !(s->opts.flags & ALLM_STORE_READ))
        return error;
    return status_error(a, ALLM_ERR_STORE, "store_read_only",
                        "this store was opened only to be read; open it "
                        "without ALLM_STORE_READ to change it");
}

/* -------------------------------------------------------------- calls --- */

const allm_error *store_call(allm_store *s,
                             const allm_error *(*fn)(struct backend *b,
                                                     struct arena *a, void *ud),
                             struct arena *a, void *ud)
{
    struct job_call call = { .fn = fn, .arena = a, .ud = ud };
    struct store_job job = { .call = &call };
    const allm_error *error = store_usable(s, a);
    if (error)
        return error;
    queue_put(s, &job);
    queue_wait(s, &job);
    return call.error;
}

struct mem store_mem(const allm_store *s)
{
    return s->mem;
}

uint32_t store_live_ms(const allm_store *s)
{
    return s->live_ms;
}

/* -------------------------------------------------------------- names --- */

const allm_error *store_check_name(struct arena *a, const char *name)
{
    size_t len = name ? strlen(name) : 0;
    bool valid = len >= 1 && len <= NAME_MOST;
    for (size_t i = 0; valid && i < len; i++)
        valid = slice_alnum(name[i]) || strchr("_-:", name[i]);
    if (valid)
        return NULL;
    if (len >= 1 && len <= NAME_MOST)
        return status_error(
            a, ALLM_ERR_SESSION, "invalid_name",
            "the name of a session has only letters, digits and _ - :; this "
            "one has %s",
            strpbrk(name, " \t") ? "a blank" : "another character");
    return status_error(a, ALLM_ERR_SESSION, "invalid_name",
                        "the name of a session has 1 to %d characters: "
                        "letters, digits and _ - :; this one has %zu",
                        NAME_MOST, len);
}
