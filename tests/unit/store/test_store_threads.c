/*
 * test_store_threads.c - one store, many threads: each with its sessions
 *
 * tag: thread
 */
#include "harness/check.h"
#include "harness/stored.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 8, SESSIONS = 3, ROUNDS = 15 };

struct writer {
    pthread_t thread;
    allm_store *store;
    int number;
    atomic_size_t *errors;
};

static void count_error(struct writer *w, bool bad)
{
    if (bad)
        atomic_fetch_add(w->errors, 1);
}

/* Several sessions at once; each second append is not waited for. */
static void write_sessions(struct writer *w)
{
    struct arena a;
    struct store_loaded l;
    struct store_session *t[SESSIONS] = { NULL };
    char name[32];
    arena_init(&a, mem_default());
    for (int i = 0; i < SESSIONS; i++) {
        snprintf(name, sizeof name, "w%d-%d", w->number, i);
        count_error(w, store_session_open(w->store, &a, name,
                                          ALLM_SESSION_CREATE, &l, &t[i]));
    }
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < SESSIONS; i++) {
            struct store_append *p = stored_append(t[i],
                                                   STORED(.type = "change"));
            const allm_error *error = NULL;
            if (r % 2)
                count_error(w, !p || store_append_wait(p, &error));
            store_append_free(p);
        }
    for (int i = 0; i < SESSIONS; i++)
        store_session_drop(t[i]);
    arena_release(&a);
}

static const allm_error *look_here(struct backend *b, struct arena *a, void *ud)
{
    size_t count = 0;
    struct backend_row *rows = NULL;
    bool found = false, held = false;
    const allm_error *error = b->ops->list(b, a, &(allm_store_query){ 0 }, 50,
                                           &count, &rows);
    return error ? error : b->ops->cancel(b, a, ud, &found, &held);
}

static void *run_writer(void *arg)
{
    struct writer *w = arg;
    struct arena a;
    char name[] = "w0-0";
    write_sessions(w);
    arena_init(&a, mem_default());
    count_error(w, store_call(w->store, look_here, &a, name));
    const allm_error wrong = { .size = sizeof wrong, .kind = ALLM_ERR_STORE,
                               .reason = "r", .message = "m" };
    store_fail(w->store, &wrong);
    count_error(w, !allm_store_error(w->store));
    store_fail(w->store, NULL);
    count_error(w, allm_store_error(w->store));
    arena_release(&a);
    allm_store_free(w->store);
    return NULL;
}

static void serves_many_threads(const char *uri)
{
    struct writer w[THREADS];
    atomic_size_t errors = 0;
    struct arena a;
    struct store_loaded l;
    allm_store *s = stored_open(uri, NULL);
    if (!s)
        return;
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct writer){ .store = store_keep(s), .number = i,
                                .errors = &errors };
        pthread_create(&w[i].thread, NULL, run_writer, &w[i]);
    }
    allm_store_free(s);                 /* the threads have theirs */
    for (int i = 0; i < THREADS; i++)
        pthread_join(w[i].thread, NULL);
    CHECK_INT(atomic_load(&errors), 0);
    arena_init(&a, mem_default());
    s = stored_open(uri, NULL);
    for (int i = 0; i < THREADS * SESSIONS; i++) {
        char name[32];
        snprintf(name, sizeof name, "w%d-%d", i / SESSIONS, i % SESSIONS);
        struct store_session *t = stored_session(s, &a, name, ALLM_SESSION_LOCK,
                                                 &l, NULL);
        if (t)
            CHECK_INT(l.row.head, ROUNDS);
        store_session_drop(t);
    }
    allm_store_free(s);
    arena_release(&a);
}

static void memory_serves_many_threads(void)
{
    stored_in_memory(serves_many_threads);
}

static void sqlite_serves_many_threads(void)
{
    stored_in_file(serves_many_threads);
}

TESTS = {
    TEST_ONCE(memory_serves_many_threads),
    TEST_ONCE(sqlite_serves_many_threads),
    TESTS_END
};
