/*
 * test_run.c - one call of one tool: where it runs, and its answer
 *
 * tag: thread
 */
#include "tool/run.h"

#include "harness/check.h"
#include "harness/noun.h"
#include "harness/tools.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

/* A thread that waits until it is rung, and the workers of its loop. */
struct bell {
    pthread_mutex_t lock;
    pthread_cond_t rung;
    int rings;
    struct workers workers;
};

static void bell_ring(void *waker)
{
    struct bell *b = waker;
    pthread_mutex_lock(&b->lock);
    b->rings++;
    pthread_cond_signal(&b->rung);
    pthread_mutex_unlock(&b->lock);
}

static void bell_wait(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    while (!b->rings)
        pthread_cond_wait(&b->rung, &b->lock);
    b->rings = 0;
    pthread_mutex_unlock(&b->lock);
}

static struct workers *bell_workers(void *ud, bool make)
{
    (void)make;
    return &((struct bell *)ud)->workers;
}

static void bell_init(struct bell *b, struct tools_bench *t)
{
    *b = (struct bell){ .rings = 0 };
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->rung, NULL);
    workers_init(&b->workers, mem_default(), 8, WORKERS_IDLE_NS, "test-tool");
    tools_init(t);
    t->env.clock = clock_real();
    t->env.ring = bell_ring;
    t->env.waker = b;
    t->env.workers = bell_workers;
    t->env.workers_ud = b;
}

static void bell_release(struct bell *b)
{
    workers_release(&b->workers);
    pthread_cond_destroy(&b->rung);
    pthread_mutex_destroy(&b->lock);
}

/* To the end, really waiting. */
static allm_status pull_all(struct tools_bench *t, struct bell *b)
{
    allm_event *event;
    int64_t again;
    allm_status status = ALLM_ERR_NOMEM;
    tools_start(t);
    while (t->batch &&
           (status = batch_next(t->batch, &event, &again)) > ALLM_OK)
        if (status == ALLM_AGAIN)
            bell_wait(b);
    return status;
}

static void add_blocking(struct tools_bench *t, const char *name,
                         allm_tool_fn fn, void *ud)
{
    tools_add_fields(t, ALLM(tool, .name = name, .description = "",
                             .schema_text = "{}", .call = fn, .ud = ud));
}

/* -------------------------------------------------------------- workers --- */

/* Two functions that can only end together: they must run at once. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t met;
    int here;
};

static void meet(allm_tool_run *run, const allm_json *args, void *ud)
{
    struct meeting *m = ud;
    (void)args;
    pthread_mutex_lock(&m->lock);
    m->here++;
    pthread_cond_broadcast(&m->met);
    while (m->here < 3)
        pthread_cond_wait(&m->met, &m->lock);
    pthread_mutex_unlock(&m->lock);
    allm_tool_text(run, allm_tool_run_call(run)->id, ALLM_NUL_ENDED);
}

static void blocking_functions_run_at_once(void)
{
    struct meeting m = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                         0 };
    struct tools_bench t;
    struct bell b;
    bell_init(&b, &t);
    add_blocking(&t, "meet", meet, &m);
    tools_call(&t, "meet", "{}");
    tools_call(&t, "meet", "{}");
    tools_call(&t, "meet", "{}");
    t.opts.max_concurrency = 3;
    CHECK_INT(pull_all(&t, &b), ALLM_OK);
    CHECK_TEXT(tools_results(&t), "c0=c0 c1=c1 c2=c2");
    tools_release(&t);
    bell_release(&b);
}

static void scripts_work_in_workers(void)
{
    static const char *const scripts[] = { "text:hi", "none", "raise:x",
                                           "later:0:text:hi", "twice" };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct tools_bench t;
        struct bell b;
        bell_init(&b, &t);
        add_blocking(&t, "it", tools_do, TOOLS_SCRIPT(scripts[i]));
        tools_call(&t, "it", "{}");
        allm_event *event;
        int64_t again = 0;
        allm_status status;
        tools_start(&t);
        while ((status = batch_next(t.batch, &event, &again)) > ALLM_OK)
            if (status == ALLM_AGAIN && again > clock_now_ns(clock_real()))
                bell_wait(&b);
        CHECK_INT(status, ALLM_OK);
        CHECK(tools_at(&t, 0) != NULL);
        tools_release(&t);
        bell_release(&b);
    }
}

/* ------------------------------------------------------------ abandoned --- */

/* A function that waits for a signal, then answers too late. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t change;
    bool entered, open, left;
    allm_status answered, again;
    bool cancelled;
};

#define GATE { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, \
               false, false, false, ALLM_AGAIN, ALLM_AGAIN, false }

static void set(struct gate *g, bool *flag)
{
    pthread_mutex_lock(&g->lock);
    *flag = true;
    pthread_cond_broadcast(&g->change);
    pthread_mutex_unlock(&g->lock);
}

static void await(struct gate *g, const bool *flag)
{
    pthread_mutex_lock(&g->lock);
    while (!*flag)
        pthread_cond_wait(&g->change, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

/* An abandoned thread frees its memory when it ends, whenever that is. */
static void await_memory(size_t blocks, size_t bytes)
{
    while (check_live_blocks() != blocks || check_live_bytes() != bytes)
        sched_yield();
}

static void pass_gate(allm_tool_run *run, const allm_json *args, void *ud)
{
    struct gate *g = ud;
    set(g, &g->entered);
    await(g, &g->open);
    g->cancelled = allm_tool_cancelled(run);
    g->answered = allm_tool_ok(run, args);      /* they live in the run */
    g->again = allm_tool_text(run, "x", 1);
    set(g, &g->left);
}

static void a_late_answer_is_dropped(void)
{
    size_t blocks = check_live_blocks(), bytes = check_live_bytes();
    struct gate g = GATE;
    struct tools_bench t;
    struct bell b;
    allm_event *event;
    int64_t again;
    bell_init(&b, &t);
    t.env.clock = clock_of_manual(&t.clock);
    add_blocking(&t, "it", pass_gate, &g);
    tools_call(&t, "it", "{'long':'argument'}");
    tools_start(&t);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
    await(&g, &g.entered);
    clock_advance(&t.clock, 30000);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_EVENT);
    while (batch_next(t.batch, &event, &again) == ALLM_EVENT)
        ;
    const struct tool_result *r = tools_at(&t, 0);
    CHECK_ERROR(r->error, ALLM_ERR_TOOL, "timeout", NULL);
    tools_release(&t);
    bell_release(&b);
    set(&g, &g.open);
    await(&g, &g.left);
    CHECK_INT(g.answered, ALLM_OK);
    CHECK_INT(g.again, ALLM_ERR_MISUSE);
    CHECK(g.cancelled);
    await_memory(blocks, bytes);
}

static void a_freed_batch_leaves_its_functions_alone(void)
{
    size_t blocks = check_live_blocks(), bytes = check_live_bytes();
    struct gate g = GATE;
    struct tools_bench t;
    struct bell b;
    allm_event *event;
    int64_t again;
    bell_init(&b, &t);
    add_blocking(&t, "it", pass_gate, &g);
    for (int i = 0; i < 3; i++)
        tools_call(&t, "it", "{}");
    t.opts.max_concurrency = 1;
    tools_start(&t);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
    await(&g, &g.entered);
    tools_release(&t);
    set(&g, &g.open);
    await(&g, &g.left);
    CHECK_INT(g.answered, ALLM_OK);
    CHECK(g.cancelled);
    bell_release(&b);
    await_memory(blocks, bytes);
}

static void queued_jobs_never_begin_after_a_stop(void)
{
    size_t blocks = check_live_blocks(), bytes = check_live_bytes();
    struct gate g = GATE;
    struct tools_bench t;
    struct bell b;
    allm_event *event;
    int64_t again;
    bell_init(&b, &t);
    b.workers.max = 1;
    add_blocking(&t, "gate", pass_gate, &g);
    add_blocking(&t, "never", tools_do, TOOLS_SCRIPT("text:never"));
    tools_call(&t, "gate", "{}");
    tools_call(&t, "never", "{}");
    tools_start(&t);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
    await(&g, &g.entered);
    CHECK_INT(workers_busy(&b.workers), 2);
    batch_stop(t.batch);
    CHECK_INT(workers_busy(&b.workers), 0);
    tools_release(&t);
    set(&g, &g.open);
    await(&g, &g.left);
    bell_release(&b);
    await_memory(blocks, bytes);
}

static void a_loop_that_goes_drops_its_jobs(void)
{
    size_t blocks = check_live_blocks(), bytes = check_live_bytes();
    struct gate g = GATE;
    struct tools_bench t;
    struct bell b;
    allm_event *event;
    int64_t again;
    bell_init(&b, &t);
    b.workers.max = 1;
    add_blocking(&t, "gate", pass_gate, &g);
    tools_call(&t, "gate", "{}");
    tools_call(&t, "gate", "{}");
    tools_start(&t);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
    await(&g, &g.entered);
    workers_release(&b.workers);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_EVENT);
    CHECK_TEXT(event->id, "c1");
    t.env.workers = NULL;
    set(&g, &g.open);
    await(&g, &g.left);
    tools_release(&t);
    bell_release(&b);
    await_memory(blocks, bytes);
}

/* ------------------------------------------------------------- deferred --- */

static allm_tool_run *kept;

static void defer(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    kept = allm_tool_defer(run);
    CHECK(kept && !allm_tool_defer(run));
}

static void start_deferred(struct tools_bench *t)
{
    allm_event *event;
    int64_t again;
    tools_init(t);
    kept = NULL;
    tools_add_fields(t, ALLM(tool, .name = "it", .description = "",
                             .schema_text = "{}", .call = defer,
                             .flags = ALLM_TOOL_INLINE));
    tools_call(t, "it", "{}");
    tools_start(t);
    if (t->batch)
        CHECK_INT(batch_next(t->batch, &event, &again), ALLM_AGAIN);
}

static void deferred_runs_answer_when_they_like(void)
{
    struct tools_bench t;
    start_deferred(&t);
    CHECK_INT(t.rings, 0);
    CHECK_INT(allm_tool_text(kept, "later", 5), ALLM_OK);
    CHECK_INT(t.rings, 1);
    CHECK_INT(allm_tool_text(kept, "twice", 5), ALLM_ERR_MISUSE);
    allm_tool_run_free(kept);
    CHECK_TEXT(tools_play(&t), "+c0 c0={\"ok\":\"later\"} c0>later ok");
    tools_release(&t);
}

static void a_deferred_run_freed_without_an_answer_has_failed(void)
{
    struct tools_bench t;
    start_deferred(&t);
    allm_tool_run_free(kept);
    if (check_whole())
        tools_play(&t);
    const struct tool_result *r = tools_at(&t, 0);
    CHECK(r != NULL);
    if (r)
        CHECK_ERROR(r->error, ALLM_ERR_TOOL, "invalid_return", "freed");
    tools_release(&t);
}

static void deferred_runs_outlive_the_batch(void)
{
    struct tools_bench t;
    start_deferred(&t);
    CHECK(kept && !allm_tool_cancelled(kept));
    tools_release(&t);
    if (kept) {
        CHECK_ALWAYS(allm_tool_cancelled(kept));
        CHECK_TEXT(allm_tool_run_call(kept)->id, "c0");
        CHECK_INT(allm_tool_text(kept, "to nobody", 9), ALLM_OK);
        CHECK_INT(allm_tool_ok(kept, NULL), ALLM_ERR_MISUSE);
    }
    CHECK_INT(t.rings, 0);
    allm_tool_run_free(kept);
}

static void *answer_kept(void *arg)
{
    (void)arg;
    allm_tool_text(kept, "from afar", 9);
    allm_tool_run_free(kept);
    return NULL;
}

static void any_thread_may_answer(void)
{
    struct tools_bench t;
    struct bell b;
    pthread_t thread;
    allm_event *event;
    int64_t again;
    bell_init(&b, &t);
    add_blocking(&t, "it", defer, NULL);
    tools_call(&t, "it", "{}");
    tools_start(&t);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
    bell_wait(&b);              /* the function has returned */
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
    pthread_create(&thread, NULL, answer_kept, NULL);
    bell_wait(&b);
    CHECK_INT(batch_next(t.batch, &event, &again), ALLM_EVENT);
    while (batch_next(t.batch, &event, &again) == ALLM_EVENT)
        ;
    CHECK_TEXT(tools_results(&t), "c0=from afar");
    pthread_join(thread, NULL);
    tools_release(&t);
    bell_release(&b);
}

static void answers_race_with_the_end(void)
{
    for (int i = 0; i < 200; i++) {
        struct tools_bench t;
        pthread_t thread;
        start_deferred(&t);
        pthread_create(&thread, NULL, answer_kept, NULL);
        tools_release(&t);
        pthread_join(thread, NULL);
    }
}

static void answers_race_with_timeouts(void)
{
    for (int i = 0; i < 300; i++) {
        struct tools_bench t;
        pthread_t thread;
        allm_event *event;
        int64_t again;
        start_deferred(&t);
        pthread_create(&thread, NULL, answer_kept, NULL);
        for (int k = 0; k < i % 7; k++)
            sched_yield();
        t.clock.now_ns = INT64_C(30000000000);
        while (batch_next(t.batch, &event, &again) == ALLM_EVENT)
            ;
        const struct tool_result *r = tools_at(&t, 0);
        CHECK(r &&
              (r->view.is_error || !strcmp(r->message->text, "from afar")));
        tools_release(&t);
        pthread_join(thread, NULL);
    }
}

/* ---------------------------------------------------------------- later --- */

static void later_may_be_said_again(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add(&t, "it", "later:10:later:20:text:done");
    tools_call(&t, "it", "{}");
    CHECK_TEXT(tools_play(&t), "+c0 c0={\"ok\":\"done\"} c0>done ok");
    CHECK_INT(t.clock.now_ns, 30000000);
    tools_release(&t);
}

/* A time that the clock cannot say is never. */
static void later_may_be_never(void)
{
    struct tools_bench t;
    tools_init(&t);
    t.clock.now_ns = INT64_MAX - 5000000;
    t.opts.timeout_ms = 3;
    tools_add(&t, "it", "later:10:text:done");
    tools_call(&t, "it", "{}");
    tools_play(&t);
    const struct tool_result *r = tools_at(&t, 0);
    CHECK(r && r->error && !strcmp(r->error->reason, "timeout"));
    tools_release(&t);
}

static void later_functions_must_answer_too(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add(&t, "it", "later:10:none");
    tools_call(&t, "it", "{}");
    tools_play(&t);
    const struct tool_result *r = tools_at(&t, 0);
    CHECK(r && r->error && !strcmp(r->error->reason, "invalid_return"));
    tools_release(&t);
}

/* --------------------------------------------------------------- misuse --- */

static void nothing_is_accepted_instead_of_a_run(void)
{
    CHECK_INT(allm_tool_ok(NULL, NULL), ALLM_ERR_NOMEM);
    CHECK_INT(allm_tool_text(NULL, "", 0), ALLM_ERR_NOMEM);
    CHECK_INT(allm_tool_fail(NULL, ""), ALLM_ERR_NOMEM);
    CHECK_INT(allm_tool_ask(NULL, "", NULL), ALLM_ERR_NOMEM);
    CHECK_INT(allm_tool_halt(NULL, "", NULL), ALLM_ERR_NOMEM);
    CHECK_INT(allm_tool_raise(NULL, ""), ALLM_ERR_NOMEM);
    CHECK_INT(allm_tool_later(NULL, 0, tools_do, NULL), ALLM_ERR_NOMEM);
    CHECK(!allm_tool_defer(NULL));
    CHECK(allm_tool_cancelled(NULL));
    CHECK(!allm_tool_run_call(NULL) && !allm_tool_run_context(NULL));
    CHECK(!allm_tool_run_session_id(NULL) && !allm_tool_run_request_id(NULL));
    allm_tool_run_free(NULL);
}

static int which_odd;

static void answer_oddly(allm_tool_run *run, const allm_json *args, void *ud)
{
    allm_json *array = noun_json("[]");
    (void)args;
    (void)ud;
    CHECK_INT(allm_tool_later(run, 0, NULL, NULL), ALLM_ERR_MISUSE);
    if (which_odd == 0)
        allm_tool_text(run, NULL, 0);
    else if (which_odd == 1)
        allm_tool_ask(run, NULL, NULL);
    else if (which_odd == 2 && array)
        allm_tool_ask(run, "q", array);
    else if (which_odd == 3)
        allm_tool_halt(run, NULL, NULL);
    allm_json_free(array);
}

static void odd_answers_are_invalid(void)
{
    for (which_odd = 0; which_odd < 4; which_odd++) {
        struct tools_bench t;
        tools_init(&t);
        tools_add_fields(&t, ALLM(tool, .name = "it", .description = "",
                                  .schema_text = "{}", .call = answer_oddly,
                                  .flags = ALLM_TOOL_INLINE));
        tools_call(&t, "it", "{}");
        tools_play(&t);
        const struct tool_result *r = tools_at(&t, 0);
        CHECK(r && r->error && !strcmp(r->error->reason, "invalid_return"));
        tools_release(&t);
    }
}

static void answer_nothing(allm_tool_run *run, const allm_json *args, void *ud)
{
    (void)args;
    (void)ud;
    CHECK_INT(allm_tool_ok(run, NULL), ALLM_OK);
    CHECK_INT(allm_tool_ok(run, NULL), ALLM_ERR_MISUSE);
}

static void a_value_that_is_missing_is_json_null(void)
{
    struct tools_bench t;
    tools_init(&t);
    tools_add_fields(&t, ALLM(tool, .name = "it", .description = "",
                              .schema_text = "{}", .call = answer_nothing,
                              .flags = ALLM_TOOL_INLINE));
    tools_call(&t, "it", "{}");
    CHECK_TEXT(tools_play(&t), "+c0 c0={\"ok\":null} c0>null ok");
    tools_release(&t);
}

/* --------------------------------------------------------- cancellation --- */

struct told {
    int times;
    allm_tool_run *deferred;
    allm_status status, again;
};

static void note_cancel(void *ud)
{
    ((struct told *)ud)->times++;
}

static void defer_and_listen(allm_tool_run *run, const allm_json *args,
                             void *ud)
{
    struct told *told = ud;
    (void)args;
    told->deferred = allm_tool_defer(run);
    told->status = allm_tool_on_cancel(run, note_cancel, told);
    told->again = allm_tool_on_cancel(run, note_cancel, told);
}

static void add_listener(struct tools_bench *t, struct told *told,
                         uint32_t timeout_ms)
{
    uint32_t flags = ALLM_TOOL_INLINE | ALLM_TOOL_OWN_TIME;
    tools_init(t);
    tools_add_fields(t, ALLM(tool, .name = "it", .description = "",
                             .schema_text = "{}", .call = defer_and_listen,
                             .ud = told, .flags = flags,
                             .timeout_ms = timeout_ms));
    tools_call(t, "it", "{}");
}

static void is_told_of_its_timeout(void)
{
    static const struct {
        uint32_t own_ms, chat_ms;
        const char *said;
    } rows[] = {
        { 70000, 0, "no answer within 70000 ms" },
        { 0, 40, "no answer within 40 ms" },
        { 10, 40, "no answer within 10 ms" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tools_bench t;
        struct told told = { .times = 0 };
        add_listener(&t, &told, rows[i].own_ms);
        t.opts.timeout_ms = rows[i].chat_ms;
        const char *events = tools_play(&t);
        CHECK(strstr(events, rows[i].said) != NULL);
        CHECK_INT(told.status, ALLM_OK);
        CHECK_INT(told.again, ALLM_ERR_MISUSE);
        CHECK_INT(told.times, 1);
        if (told.deferred)
            CHECK_ALWAYS(allm_tool_on_cancel(told.deferred, note_cancel,
                                             &told) == ALLM_OK);
        CHECK(told.times == 2);     /* at once */
        allm_tool_run_free(told.deferred);
        tools_release(&t);
    }
}

static void is_told_when_the_batch_is_freed(void)
{
    struct tools_bench t;
    struct told told = { .times = 0 };
    allm_event *event;
    int64_t again = 0;
    add_listener(&t, &told, UINT32_MAX);
    tools_start(&t);
    if (t.batch)
        batch_next(t.batch, &event, &again);
    CHECK_INT(again, INT64_MAX);
    CHECK_INT(told.times, 0);
    tools_release(&t);
    CHECK_INT(told.times, 1);
    allm_tool_run_free(told.deferred);
}

static void is_not_told_after_its_answer(void)
{
    struct tools_bench t;
    struct told told = { .times = 0 };
    allm_event *event;
    int64_t again = 0;
    add_listener(&t, &told, 50);
    tools_start(&t);
    if (t.batch)
        batch_next(t.batch, &event, &again);
    if (told.deferred) {
        allm_tool_text(told.deferred, "x", 1);
        CHECK_ALWAYS(allm_tool_on_cancel(told.deferred, note_cancel, &told) ==
                     ALLM_ERR_MISUSE);
    }
    tools_release(&t);
    CHECK_ALWAYS(told.times == 0);
    allm_tool_run_free(told.deferred);
    CHECK_ALWAYS(allm_tool_on_cancel(NULL, note_cancel, &told) ==
                 ALLM_ERR_NOMEM);
}

/* A person thinks for a minute about a call that may take 50 ms. */
static void time_of_a_person_does_not_count(void)
{
    struct tools_bench t;
    struct told told = { .times = 0 };
    allm_event *event;
    int64_t again = 0;
    add_listener(&t, &told, 50);
    tools_start(&t);
    while (t.batch && batch_next(t.batch, &event, &again) == ALLM_EVENT)
        ;
    if (told.deferred) {
        clock_advance(&t.clock, 20);
        run_pause(told.deferred, true);
        run_pause(told.deferred, true);
        again = INT64_MAX;
        clock_advance(&t.clock, 60000);
        CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
        CHECK_INT(again, INT64_MAX);
        run_pause(told.deferred, false);
        clock_advance(&t.clock, 29);
        CHECK_INT(batch_next(t.batch, &event, &again), ALLM_AGAIN);
        CHECK_INT(again, t.clock.now_ns + 1000000);
        CHECK_INT(told.times, 0);
        clock_advance(&t.clock, 1);
        CHECK_INT(batch_next(t.batch, &event, &again), ALLM_EVENT);
        CHECK_INT(told.times, 1);
    }
    tools_release(&t);
    if (told.deferred)
        run_pause(told.deferred, true); /* is of no use any more */
    allm_tool_run_free(told.deferred);
}

TESTS = {
    TEST_ONCE(blocking_functions_run_at_once),
    TEST_ONCE(scripts_work_in_workers),
    TEST_ONCE(a_late_answer_is_dropped),
    TEST_ONCE(a_freed_batch_leaves_its_functions_alone),
    TEST_ONCE(queued_jobs_never_begin_after_a_stop),
    TEST_ONCE(a_loop_that_goes_drops_its_jobs),
    TEST(deferred_runs_answer_when_they_like),
    TEST(a_deferred_run_freed_without_an_answer_has_failed),
    TEST(deferred_runs_outlive_the_batch),
    TEST_ONCE(any_thread_may_answer),
    TEST_ONCE(answers_race_with_the_end),
    TEST_ONCE(answers_race_with_timeouts),
    TEST(later_may_be_said_again),
    TEST(later_may_be_never),
    TEST(later_functions_must_answer_too),
    TEST(nothing_is_accepted_instead_of_a_run),
    TEST(odd_answers_are_invalid),
    TEST(a_value_that_is_missing_is_json_null),
    TEST(is_told_of_its_timeout),
    TEST(time_of_a_person_does_not_count),
    TEST(is_told_when_the_batch_is_freed),
    TEST(is_not_told_after_its_answer),
    TESTS_END,
};
