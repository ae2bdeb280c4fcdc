/* test_feed_source.c - events that an adapter creates itself */
#include "run/feed_source.h"

#include "harness/check.h"
#include "run/attempt.h"

static struct {
    int opened, closed;
    bool fails, complains, starves;
} act;

static allm_status act_open(void *state, const allm_call *call, allm_sink *s)
{
    (void)call;
    act.opened++;
    CHECK_ALWAYS(*(int *)state == 0);   /* zeroed */
    *(int *)state = 7;
    if (act.starves)
        s->status = ALLM_ERR_NOMEM;
    if (act.complains)
        allm_sink_fail(
            s, ALLM(error, .kind = ALLM_ERR_ADAPTER, .reason = "timeout"),
            false);
    return act.fails ? ALLM_ERR_ADAPTER : ALLM_OK;
}

static allm_status act_next(void *state, const allm_call *call, allm_sink *s,
                            int64_t *again_ns)
{
    (void)call;
    CHECK_ALWAYS(*(int *)state == 7);
    *again_ns = 5;
    if (act.starves)
        s->status = ALLM_ERR_NOMEM;
    return ALLM_AGAIN;
}

static void act_close(void *state, const allm_call *call)
{
    (void)call;
    CHECK_ALWAYS(*(int *)state == 7);
    act.closed++;
}

struct bench {
    struct arena arena;
    struct allm_sink sink;
    allm_adapter adapter;
    struct registry_row row;
    allm_call call;
};

static struct feed *bench_open(struct bench *b)
{
    *b = (struct bench){ .call = { .size = sizeof(allm_call) } };
    b->adapter = (allm_adapter){ .size = sizeof b->adapter,
                                 .name = "test",
                                 .state_size = sizeof(int),
                                 .open = act_open,
                                 .next = act_next,
                                 .close = act_close };
    b->row = (struct registry_row){ .name = "test", .adapter = &b->adapter };
    act.opened = act.closed = 0;
    arena_init(&b->arena, mem_default());
    sink_init(&b->sink, &b->arena, NULL);
    const struct feed_env env = { .row = &b->row };
    return attempt_open(&b->arena, &b->call, &env, &b->sink);
}

static void a_source_is_opened_pulled_and_closed(void)
{
    struct bench b;
    int64_t again = 0;
    act.fails = act.complains = act.starves = false;
    struct feed *f = bench_open(&b);
    CHECK(f != NULL);
    if (f) {
        CHECK(!f->begun);
        CHECK_INT(f->ops->next(f, &b.sink, &again), ALLM_AGAIN);
        CHECK_INT(again, 5);
        CHECK(f->begun);
        act.starves = true;     /* what the sink knows counts */
        CHECK_INT(f->ops->next(f, &b.sink, &again), ALLM_ERR_NOMEM);
    }
    attempt_close(f);
    attempt_close(NULL);
    CHECK_ALWAYS(act.opened == act.closed);
    arena_release(&b.arena);
}

/* Closed once for every open that went well, whatever the sink says then. */
static void what_goes_wrong_while_opening_is_not_lost(void)
{
    static const struct {
        bool fails, complains, starves;
        int closed;
    } rows[] = {
        { true, false, false, 0 }, { true, true, false, 0 },
        { false, true, false, 1 }, { false, false, true, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench b;
        act.fails = rows[i].fails;
        act.complains = rows[i].complains;
        act.starves = rows[i].starves;
        struct feed *f = bench_open(&b);
        CHECK_ALWAYS(!f);
        CHECK_ALWAYS(b.sink.failure || b.sink.status < 0);
        CHECK_INT(act.closed, rows[i].closed);
        arena_release(&b.arena);
    }
}

TESTS = {
    TEST(a_source_is_opened_pulled_and_closed),
    TEST(what_goes_wrong_while_opening_is_not_lost),
    TESTS_END,
};
