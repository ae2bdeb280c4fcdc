/* test_pipeline.c - the stages of a turn, in order */
#include "turn/pipeline.h"

#include "harness/check.h"
#include "harness/noun.h"

#include <stdio.h>

static const char *names(const allm_pipeline *p)
{
    static char out[256];
    out[0] = '\0';
    for (size_t i = 0; i < allm_pipeline_count(p); i++) {
        size_t n = strlen(out);
        snprintf(out + n, sizeof out - n, "%s%s", i ? " " : "",
                 allm_pipeline_name(p, i));
    }
    return out;
}

static allm_status nothing(allm_context *c, void *ud)
{
    (void)c;
    (void)ud;
    return ALLM_OK;
}

static const allm_stage mine = { .size = sizeof mine, .name = "mine",
                                 .run = nothing };

static void stages_are_exchanged_by_name(void)
{
    allm_pipeline *p = allm_pipeline_new();
    CHECK_TEXT(names(p), "parse validate budget dispatch inject decide");
    allm_pipeline *q = allm_pipeline_insert(p, "parse", &mine);
    CHECK_TEXT(names(q), "mine parse validate budget dispatch inject decide");
    allm_pipeline_free(q);
    q = allm_pipeline_insert(p, NULL, &mine);
    CHECK_TEXT(names(q), "parse validate budget dispatch inject decide mine");
    allm_pipeline_free(q);
    q = allm_pipeline_replace(p, "budget", &mine);
    CHECK_TEXT(names(q), "parse validate mine dispatch inject decide");
    allm_pipeline *r = allm_pipeline_remove(q, "mine");
    CHECK_TEXT(names(r), "parse validate dispatch inject decide");
    CHECK_TEXT(names(p), "parse validate budget dispatch inject decide");
    CHECK_WELL(allm_pipeline_error(r));
    allm_pipeline_free(r);
    allm_pipeline_free(q);
    allm_pipeline_free(p);
}

static void wrong_changes_are_reported(void)
{
    allm_pipeline *p = allm_pipeline_new(), *q;
    const allm_stage no_name = { .size = sizeof no_name, .run = nothing };
    const allm_stage no_size = { .name = "x", .run = nothing };
    const allm_stage parse = { .size = sizeof parse, .name = "parse",
                               .run = nothing };
    q = allm_pipeline_insert(p, "nowhere", &mine);
    CHECK_MISUSE(allm_pipeline_error(q), "unknown_stage", NULL);
    allm_pipeline *r = allm_pipeline_remove(q, "parse");
    CHECK_MISUSE(allm_pipeline_error(r), "unknown_stage", NULL);
    allm_pipeline_free(r);
    allm_pipeline_free(q);
    q = allm_pipeline_remove(p, NULL);
    CHECK_MISUSE(allm_pipeline_error(q), "unknown_stage", NULL);
    allm_pipeline_free(q);
    q = allm_pipeline_replace(p, "budget", &parse);
    CHECK_MISUSE(allm_pipeline_error(q), "duplicate_stage", NULL);
    allm_pipeline_free(q);
    q = allm_pipeline_replace(p, "parse", &parse);
    CHECK_WELL(allm_pipeline_error(q));
    allm_pipeline_free(q);
    q = allm_pipeline_insert(p, "parse", &no_name);
    CHECK_MISUSE(allm_pipeline_error(q), "invalid_stage", NULL);
    allm_pipeline_free(q);
    q = allm_pipeline_insert(p, "parse", &no_size);
    CHECK_MISUSE(allm_pipeline_error(q), "invalid_stage", NULL);
    allm_pipeline_free(q);
    q = allm_pipeline_insert(p, "parse", NULL);
    CHECK_MISUSE(allm_pipeline_error(q), "invalid_stage", NULL);
    allm_pipeline_free(q);
    CHECK_ALWAYS(!allm_pipeline_insert(NULL, NULL, &mine));
    CHECK_ALWAYS(!allm_pipeline_replace(NULL, "x", &mine));
    CHECK_ALWAYS(!allm_pipeline_remove(NULL, "x"));
    CHECK_ALWAYS(allm_pipeline_count(NULL) == 0 && !allm_pipeline_name(p, 99));
    allm_pipeline_free(p);
    allm_pipeline_free(NULL);
}

/* -------------------------------------------------------------- running --- */

struct log {
    char told[128];
    int again;
};

static struct log *log_of(void *ud)
{
    return ud;
}

static void note(struct log *l, const char *word)
{
    size_t n = strlen(l->told);
    snprintf(l->told + n, sizeof l->told - n, "%s", word);
}

static allm_status says_a(allm_context *c, void *ud)
{
    (void)c;
    note(log_of(ud), "a");
    return ALLM_OK;
}

static allm_status says_b(allm_context *c, void *ud)
{
    (void)c;
    note(log_of(ud), "b");
    return ALLM_OK;
}

static allm_status decides(allm_context *c, void *ud)
{
    note(log_of(ud), "d");
    return allm_context_decide(c, ALLM_DECISION_DONE, NULL, NULL);
}

static allm_status fails(allm_context *c, void *ud)
{
    note(log_of(ud), "f");
    return allm_context_fail(c, ALLM(error, .kind = ALLM_ERR_TOOL,
                                     .reason = "denied"));
}

static allm_status sulks(allm_context *c, void *ud)
{
    (void)c;
    note(log_of(ud), "s");
    return ALLM_ERR_TOOL;
}

/* Emits an event, waits, then is done; its state lasts. */
static allm_status lingers(allm_context *c, void *ud)
{
    int *times = allm_context_state(c, sizeof *times);
    note(log_of(ud), "l");
    if (!times)
        return ALLM_ERR_NOMEM;
    switch ((*times)++) {
    case 0:
        return allm_context_emit(c, ALLM(event, .type = ALLM_EV_RAW_CHUNK));
    case 1:
        allm_context_wait_until(c, 77);
        return ALLM_AGAIN;
    default:
        return ALLM_OK;
    }
}

typedef allm_status (*stage_fn)(allm_context *, void *);

static void play(const char *why, const stage_fn *fns, const uint32_t *flags,
                 const char *told, allm_status status)
{
    struct arena a;
    allm_context c;
    struct log log = { "", 0 };
    allm_pipeline *p = allm_pipeline_new(), *q;
    static const char *const stock[] = { "parse", "validate", "budget",
                                         "dispatch", "inject", "decide" };
    static const char *const own[] = { "x", "y", "z" };
    for (int i = 0; i < 6; i++, p = q) {
        q = allm_pipeline_remove(p, stock[i]);
        allm_pipeline_free(p);
    }
    for (int i = 0; i < 3 && fns[i]; i++, p = q) {
        q = allm_pipeline_insert(p, NULL,
                                 ALLM(stage, .name = own[i], .run = fns[i],
                                      .flags = flags ? flags[i] : 0,
                                      .ud = &log));
        allm_pipeline_free(p);
    }
    check_row(why);
    arena_init(&a, mem_default());
    context_init(&c, &a);
    size_t at = 0;
    allm_status last = ALLM_OK;
    for (int i = 0; p && i < 9; i++) {
        last = pipeline_run(p, &c, &at);
        if (last == ALLM_AGAIN)
            CHECK_INT(c.again_ns, 77);
        if (last != ALLM_EVENT && last != ALLM_AGAIN)
            break;
        while (context_take(&c))
            note(&log, "e");
    }
    CHECK_TEXT(log.told, told);
    CHECK_INT(last, status);
    if (status < 0)
        CHECK(c.error && c.decision == ALLM_DECISION_ERROR);
    context_release(&c);
    arena_release(&a);
    allm_pipeline_free(p);
}

static void the_runner_owns_the_rules(void)
{
    const uint32_t on_decided[3] = { 0, 0, ALLM_STAGE_ON_DECIDED };
    const uint32_t on_error[3] = { 0, 0, ALLM_STAGE_ON_ERROR };
    play("in order", (stage_fn[3]){ says_a, says_b, says_a }, NULL, "aba",
         ALLM_OK);
    play("what is decided is left alone",
         (stage_fn[3]){ decides, says_a, says_b }, NULL, "d", ALLM_OK);
    play("but for those that want it", (stage_fn[3]){ decides, says_a, says_b },
         on_decided, "db", ALLM_OK);
    play("a failure ends it", (stage_fn[3]){ fails, says_a, says_b }, NULL, "f",
         ALLM_ERR_TOOL);
    play("also for those that look at errors: the runner stops",
         (stage_fn[3]){ fails, says_a, says_b }, on_error, "f", ALLM_ERR_TOOL);
    play("a failure without words", (stage_fn[3]){ says_a, sulks, says_b },
         NULL, "as", ALLM_ERR_ENGINE);
    play("a stage that lasts", (stage_fn[3]){ says_a, lingers, says_b }, NULL,
         "alellb", ALLM_OK);
}

TESTS = {
    TEST(stages_are_exchanged_by_name),
    TEST(wrong_changes_are_reported),
    TEST(the_runner_owns_the_rules),
    TESTS_END,
};
