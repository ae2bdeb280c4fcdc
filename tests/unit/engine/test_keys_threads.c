/*
 * test_keys_threads.c - one key store, many threads
 *
 * tag: thread
 */
#include "engine/keys.h"

#include "harness/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 100, ROUNDS = 20 };

struct worker {
    allm_keys *keys;
    size_t number;
    size_t wrong;               /* answers that were not as they should be */
};

/* Run a function in several threads, each with its own worker. */
static size_t run_all(allm_keys *k, void *(*fn)(void *))
{
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    bool started[THREADS];
    size_t wrong = 0;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ k, i, 0 };
        started[i] = !pthread_create(&threads[i], NULL, fn, &workers[i]);
        CHECK(started[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        wrong += workers[i].wrong;
    }
    return wrong;
}

static bool key_is(const allm_keys *k, const char *provider, const char *key)
{
    allm_text *t = allm_keys_get(k, provider, NULL, NULL);
    const char *got = allm_text_bytes(t, NULL);
    bool same = got && !strcmp(got, key);
    allm_text_free(t);
    return same;
}

static void *put_own(void *arg)
{
    struct worker *w = arg;
    char provider[32], key[32];
    snprintf(provider, sizeof provider, "p%zu", w->number);
    snprintf(key, sizeof key, "key-%zu", w->number);
    w->wrong += allm_keys_put(w->keys, provider, key) != ALLM_OK;
    w->wrong += !key_is(w->keys, provider, key);
    return NULL;
}

static void a_hundred_threads_put_keys(void)
{
    allm_keys *k = allm_keys_new(NULL);
    CHECK_INT(run_all(k, put_own), 0);
    for (size_t i = 0; i < THREADS; i++) {
        char provider[32], key[32];
        snprintf(provider, sizeof provider, "p%zu", i);
        snprintf(key, sizeof key, "key-%zu", i);
        CHECK(key_is(k, provider, key));
    }
    allm_keys_free(k);
}

/* All change and ask for the same key; it is always one that was put. */
static void *put_same(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < ROUNDS; i++) {
        allm_keys *mine = allm_keys_keep(w->keys);
        allm_keys_put(mine, "same", w->number % 2 ? "odd" : "even");
        allm_text *t = allm_keys_get(mine, "same", NULL, NULL);
        const char *got = allm_text_bytes(t, NULL);
        w->wrong += !got ||
                    (strcmp(got, "odd") != 0 && strcmp(got, "even") != 0);
        allm_text_free(t);
        allm_keys_free(mine);
    }
    return NULL;
}

static void a_key_is_never_half_replaced(void)
{
    allm_keys *k = allm_keys_new(NULL);
    CHECK_INT(run_all(k, put_same), 0);
    allm_keys_free(k);
}

/* The first caller loads the file, also after a clear. */
static void *ask_file(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < ROUNDS; i++) {
        w->wrong += !key_is(w->keys, "filed", "from-file");
        if (w->number % 10 == 0)
            allm_keys_clear(w->keys);
        if (w->number % 10 == 1)
            allm_keys_configure(w->keys, NULL);
    }
    return NULL;
}

static void a_file_is_shared(void)
{
    char path[] = "/tmp/allm-test-XXXXXX";
    int fd = mkstemp(path);
    static const char line[] = "FILED_API_KEY=from-file\n";
    if (fd < 0) {
        check_skip("no temporary file");
        return;
    }
    CHECK(write(fd, line, sizeof line - 1) == (ssize_t)sizeof line - 1);
    close(fd);
    allm_keys *k =
        allm_keys_new(ALLM(keys_opts, .load_dotenv = 1, .dotenv_path = path));
    CHECK_INT(run_all(k, ask_file), 0);
    allm_keys_free(k);
    unlink(path);
}

TESTS = {
    TEST_ONCE(a_hundred_threads_put_keys),
    TEST_ONCE(a_key_is_never_half_replaced),
    TEST_ONCE(a_file_is_shared),
    TESTS_END
};
