/*
 * test_engine_threads.c - one engine, many threads
 *
 * tag: thread
 */
#include "allm.h"

#include "harness/check.h"
#include "harness/play.h"

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 16, ROUNDS = 40 };

struct worker {
    const allm_engine *engine;
    size_t number;
    size_t wrong;               /* wrong results */
};

static size_t run_all(const allm_engine *e, void *(*fn)(void *))
{
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    bool started[THREADS];
    size_t wrong = 0;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){ e, i, 0 };
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

static bool model_is(const allm_engine *e, const char *model)
{
    const allm_engine_record *r = allm_engine_fields(e);
    return r && r->model && !strcmp(r->model, model);
}

/* Each thread derives engines from the shared one, which does not change. */
static void *derive(void *arg)
{
    struct worker *w = arg;
    char model[32];
    snprintf(model, sizeof model, "fake:%zu", w->number);
    for (int i = 0; i < ROUNDS; i++) {
        allm_engine *mine = allm_engine_keep(w->engine);
        allm_engine *a = allm_engine_with_model(mine, model);
        allm_engine *b =
            allm_engine_merge_opts(mine, ALLM(call_opts, .model = model));
        allm_json *named = allm_engine_resolve_model(b, NULL);
        const char *text = allm_json_text(named, NULL);
        w->wrong += !model_is(mine, "fake:m") || !model_is(a, model) ||
                    !model_is(b, model) || !text || strcmp(text, model) != 0;
        allm_json_free(named);
        allm_engine_free(mine);
        allm_engine_free(b);
        allm_engine_free(a);
    }
    return NULL;
}

static void engines_are_derived_at_once(void)
{
    allm_engine *e = play_engine("{}", NULL);
    CHECK_INT(run_all(e, derive), 0);
    CHECK(model_is(e, "fake:m"));
    allm_engine_free(e);
}

/* All threads share a script: each of its calls is played once. */
static void *call(void *arg)
{
    struct worker *w = arg;
    allm_stream *s = play_call(w->engine);
    w->wrong += allm_stream_wait(s) != ALLM_OK;
    allm_stream_free(s);
    return NULL;
}

static void calls_of_one_script_are_shared_out(void)
{
    char opts[1024] = "{'record': true, 'scripts': [";
    for (int i = 0; i < THREADS; i++)
        snprintf(opts + strlen(opts), sizeof opts - strlen(opts),
                 "%s[['text', 'a']]", i ? "," : "");
    snprintf(opts + strlen(opts), sizeof opts - strlen(opts), "]}");
    allm_engine *e = play_engine(opts, NULL);
    CHECK_INT(run_all(e, call), 0);
    CHECK_INT(allm_fake_calls(e), THREADS);
    CHECK_INT(allm_fake_released(e), THREADS);
    allm_json *seen = allm_fake_requests(e);
    CHECK_INT(allm_json_count(seen), THREADS);
    allm_json_free(seen);
    CHECK_INT(run_all(e, call), THREADS);       /* nothing is left */
    allm_engine_free(e);
}

TESTS = {
    TEST_ONCE(engines_are_derived_at_once),
    TEST_ONCE(calls_of_one_script_are_shared_out),
    TESTS_END,
};
