/*
 * test_thread_threads.c - one conversation, used by several threads
 *
 * tag: thread
 *
 * Copies of a thread share its spine.  Each belongs to one thread of the
 * process, which appends to it, branches off and frees, while the others do
 * the same with theirs.
 */
#include "data/thread.h"

#include "harness/noun.h"

#include <pthread.h>

enum { WORKERS = 4, COMMON = 5, ROUNDS = 300 };

struct worker {
    const allm_thread *base;    /* of all: read only */
    allm_thread *mine;          /* a copy that shares its spine */
    char name[2];
    size_t wrong;
};

/* The common messages, then n of this worker's, and no others. */
static bool is_mine(const struct worker *w, const allm_thread *t, size_t n)
{
    size_t count;
    const allm_message *const *list = allm_thread_messages(t, &count);
    if (count != COMMON + n)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i < COMMON && list[i] != allm_thread_at(w->base, i))
            return false;
        if (i >= COMMON && strcmp(list[i]->text, w->name) != 0)
            return false;
    }
    return true;
}

/* Grow one's own copy; at each length branch off, and once from the base. */
static void *work(void *arg)
{
    struct worker *w = arg;
    for (size_t i = 0; i < ROUNDS; i++) {
        w->wrong += allm_thread_add(w->mine, ALLM_ROLE_USER, w->name) != 0;
        allm_thread *branch = allm_thread_copy(w->mine);
        w->wrong += allm_thread_add(branch, ALLM_ROLE_USER, w->name) != 0;
        w->wrong += !is_mine(w, branch, i + 2);
        w->wrong += !is_mine(w, w->mine, i + 1);
        allm_thread_free(branch);

        branch = allm_thread_copy(w->base);
        w->wrong += allm_thread_append(branch, allm_thread_last(w->mine)) != 0;
        w->wrong += !is_mine(w, branch, 1);
        allm_thread_free(branch);
    }
    return NULL;
}

static void threads_extend_one_spine_at_once(void)
{
    pthread_t threads[WORKERS];
    struct worker workers[WORKERS];
    bool started[WORKERS];
    allm_thread *base = allm_thread_new(NULL);
    for (size_t i = 0; i < COMMON; i++)
        allm_thread_add(base, ALLM_ROLE_USER, "common");
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){ base, allm_thread_copy(base),
                                      { (char)('a' + i), '\0' }, 0 };
        started[i] = !pthread_create(&threads[i], NULL, work, &workers[i]);
        CHECK(started[i]);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        CHECK_INT(workers[i].wrong, 0);
        CHECK(is_mine(&workers[i], workers[i].mine, ROUNDS));
        allm_thread_free(workers[i].mine);
    }
    CHECK_INT(allm_thread_count(base), COMMON);
    allm_thread_free(base);
}

/* The last one of several copies frees the spine, whichever it is. */
static void *grow_and_free(void *arg)
{
    struct worker *w = arg;
    for (size_t i = 0; i < 10; i++)
        w->wrong += allm_thread_add(w->mine, ALLM_ROLE_USER, w->name) != 0;
    allm_thread_free(w->mine);
    return NULL;
}

static void the_last_thread_frees_the_spine(void)
{
    for (size_t round = 0; round < ROUNDS; round++) {
        pthread_t threads[WORKERS];
        struct worker workers[WORKERS];
        bool started[WORKERS];
        allm_thread *base = allm_thread_new(NULL);
        allm_thread_add(base, ALLM_ROLE_USER, "common");
        for (size_t i = 0; i < WORKERS; i++) {
            workers[i] = (struct worker){ NULL, allm_thread_copy(base),
                                          { (char)('a' + i), '\0' }, 0 };
            started[i] = !pthread_create(&threads[i], NULL, grow_and_free,
                                         &workers[i]);
            CHECK(started[i]);
        }
        allm_thread_free(base);
        for (size_t i = 0; i < WORKERS; i++) {
            if (started[i])
                pthread_join(threads[i], NULL);
            else
                allm_thread_free(workers[i].mine);
            CHECK_INT(workers[i].wrong, 0);
        }
    }
}

TESTS = {
    TEST_ONCE(threads_extend_one_spine_at_once),
    TEST_ONCE(the_last_thread_frees_the_spine),
    TESTS_END
};
