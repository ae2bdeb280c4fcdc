/*
 * test_home_threads.c - homes that several threads keep and drop
 *
 * tag: thread
 *
 * Once a home is published any thread may read, keep and drop it; the last one
 * frees it, and must then see what the others did before they left.
 */
#include "base/home.h"

#include "harness/check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 2000 };

struct shared {
    struct allm_home *home;
    const char *text;           /* in the home */
    size_t seen[THREADS];       /* written by each thread, read by the last */
    size_t total;               /* as seen by the last one */
    int freed;
};

struct visitor {
    struct shared *shared;
    size_t number;
};

/* Runs in whichever thread is the last. */
static void add_up(void *arg)
{
    struct shared *s = arg;
    for (size_t i = 0; i < THREADS; i++)
        s->total += s->seen[i];
    s->freed++;
}

/* Keep and drop many times; then leave for good. */
static void *visit(void *arg)
{
    struct visitor *v = arg;
    struct shared *s = v->shared;
    for (int i = 0; i < ROUNDS; i++) {
        struct allm_home *h = home_keep(s->home);
        if (slice_is(SLICE("shared"), s->text))
            s->seen[v->number]++;
        home_drop(h);
    }
    home_drop(s->home);
    return NULL;
}

/* Start the visitors, each with its own count, and wait for them. */
static void let_visit(struct shared *s)
{
    pthread_t threads[THREADS];
    struct visitor visitors[THREADS];
    bool started[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        visitors[i] = (struct visitor){ s, i };
        home_keep(s->home);
        started[i] = !pthread_create(&threads[i], NULL, visit, &visitors[i]);
        CHECK(started[i]);
        if (!started[i])
            home_drop(s->home);
    }
    home_drop(s->home);         /* ours; perhaps the last */
    for (size_t i = 0; i < THREADS; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}

static void the_last_thread_frees_it_and_sees_all(void)
{
    struct shared s = { 0 };
    s.home = home_new(mem_default(), 100);
    if (!s.home)
        return;
    s.text = arena_text(home_arena(s.home), "shared");
    if (!home_on_free(s.home, add_up, &s) || !s.text) {
        home_drop(s.home);
        return;
    }
    let_visit(&s);
    CHECK_INT(s.freed, 1);
    CHECK_INT(s.total, THREADS * ROUNDS);
}

/* ------------------------------------- values that share what they hold --- */

/* Make homes of one's own that hold the shared one. */
static void *build_upon(void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct allm_home *mine = home_new(mem_default(), 50);
        if (!mine)
            continue;
        home_hold(mine, s->home);
        home_drop(mine);
    }
    home_drop(s->home);
    return NULL;
}

static void threads_hold_one_home_in_many(void)
{
    struct shared s = { .home = home_new(mem_default(), 100) };
    pthread_t threads[THREADS];
    bool started[THREADS];
    if (!s.home || !home_on_free(s.home, add_up, &s)) {
        home_drop(s.home);
        return;
    }
    for (size_t i = 0; i < THREADS; i++) {
        home_keep(s.home);
        started[i] = !pthread_create(&threads[i], NULL, build_upon, &s);
        CHECK(started[i]);
        if (!started[i])
            home_drop(s.home);
    }
    home_drop(s.home);
    for (size_t i = 0; i < THREADS; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    CHECK_INT(s.freed, 1);
}

/* Add notes while others add and read theirs. */
static void *annotate(void *arg)
{
    struct shared *s = arg;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        const struct home_key key = { { i % 6, 7 } };
        home_add_note(s->home, key, SLICE("the same for all"));
        struct slice note = home_note(s->home, key);
        if (note.ptr && !slice_is(note, "the same for all"))
            return arg;         /* torn */
    }
    return NULL;
}

static void threads_keep_notes(void)
{
    struct shared s = { .home = home_new(mem_default(), 100) };
    pthread_t threads[THREADS];
    bool started[THREADS];
    if (!s.home)
        return;
    for (size_t i = 0; i < THREADS; i++)
        started[i] = !pthread_create(&threads[i], NULL, annotate, &s);
    for (size_t i = 0; i < THREADS; i++) {
        void *torn = NULL;
        if (started[i])
            pthread_join(threads[i], &torn);
        CHECK(!torn);
    }
    CHECK_SLICE(home_note(s.home, (struct home_key){ { 3, 7 } }),
                SLICE("the same for all"));
    home_drop(s.home);
}

TESTS = {
    TEST_ONCE(threads_keep_notes),
    TEST_ONCE(the_last_thread_frees_it_and_sees_all),
    TEST_ONCE(threads_hold_one_home_in_many),
    TESTS_END
};
