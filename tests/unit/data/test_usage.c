/* test_usage.c - the usage of a call, in tokens and money */
#include "data/usage.h"

#include "harness/noun.h"
#include "json/json.h"

#include <stdlib.h>

static void has_defaults(void)
{
    allm_usage *u = allm_usage_new(ALLM(usage, .input_tokens = ALLM_NUM(10),
                                        .output_tokens = ALLM_NUM(20)));
    CHECK_WELL(allm_usage_error(u));
    CHECK_JSON(allm_usage_json(u, ALLM_FORM_TAGGED),
               "{'__type__':'ALLM.Usage','data':{'input_tokens':10,"
               "'output_tokens':20,'cached_input_tokens':null,"
               "'reasoning_tokens':null,'total_tokens':null,"
               "'input_cost':null,'output_cost':null,'total_cost':null,"
               "'tool_usage':{},'extra':{}}}");
    allm_usage_free(u);
    u = allm_usage_new(NULL);
    CHECK_WELL(allm_usage_error(u));
    CHECK(!u || (!u->input_tokens.set && !u->total_cost.set));
    allm_usage_free(u);
}

static void keeps_every_field(void)
{
    allm_json *tools = noun_json("{'search':2}"), *extra = noun_json("{'x':1}");
    allm_json *kept = noun_json("{'k':2}");
    allm_usage *u = allm_usage_new(
        ALLM(usage, .input_tokens = ALLM_NUM(1), .output_tokens = ALLM_NUM(2),
             .cached_input_tokens = ALLM_NUM(3),
             .reasoning_tokens = ALLM_NUM(4), .total_tokens = ALLM_NUM(5),
             .input_cost = ALLM_NUM(0.25), .output_cost = ALLM_NUM(0.5),
             .total_cost = ALLM_NUM(0.75), .tool_usage = tools, .extra = extra,
             .kept = kept));
    allm_json_free(tools);
    allm_json_free(extra);
    allm_json_free(kept);
    CHECK_JSON(allm_usage_json(u, ALLM_FORM_PLAIN),
               "{'input_tokens':1,'output_tokens':2,'cached_input_tokens':3,"
               "'reasoning_tokens':4,'total_tokens':5,'input_cost':0.25,"
               "'output_cost':0.5,'total_cost':0.75,"
               "'tool_usage':{'search':2},'extra':{'x':1},'k':2}");
    allm_usage_free(u);
}

static void adds_up_what_is_known(void)
{
#define N(x) ALLM_NUM(x)
#define NONE { 0, false }
    static const struct {
        const char *why;
        allm_int in, out, total;
        bool known;
        int64_t want;
    } rows[] = {
        { "the field itself", N(1), N(2), N(42), true, 42 },
        { "the field alone", NONE, NONE, N(42), true, 42 },
        { "input and output", N(10), N(20), NONE, true, 30 },
        { "zero is known", N(0), N(0), NONE, true, 0 },
        { "nothing", NONE, NONE, NONE, false, 7 },
        { "input alone", N(10), NONE, NONE, false, 7 },
        { "output alone", NONE, N(10), NONE, false, 7 },
        { "the largest sum", N(INT64_MAX - 1), N(1), NONE, true, INT64_MAX },
        { "too large", N(INT64_MAX), N(1), NONE, false, 7 },
        { "the smallest sum", N(INT64_MIN + 1), N(-1), NONE, true,
          INT64_MIN },
        { "too small", N(INT64_MIN), N(-1), NONE, false, 7 },
        { "both large", N(INT64_MAX), N(INT64_MAX), NONE, false, 7 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        const allm_usage *u = ALLM(usage, .input_tokens = rows[i].in,
                                   .output_tokens = rows[i].out,
                                   .total_tokens = rows[i].total);
        int64_t total = 7;
        CHECK_ALWAYS(allm_usage_total(u, &total) == rows[i].known);
        CHECK_ALWAYS(total == rows[i].want);
        CHECK_ALWAYS(allm_usage_total(u, NULL) == rows[i].known);
    }
}

static void refuses_what_does_not_fit(void)
{
    allm_json *list = noun_json("[]");
    allm_usage *u = allm_usage_new(ALLM(usage, .extra = list));
    if (list)
        CHECK_MISUSE(allm_usage_error(u), "wrong_type", "extra");
    allm_usage_free(u);
    u = allm_usage_new(&(allm_usage){ .total_tokens = ALLM_NUM(1) });
    CHECK_MISUSE(allm_usage_error(u), "struct_size",
                 "allm_usage: the struct has no size");
    allm_usage_free(u);
    allm_json_free(list);
}

static void sizes(void)
{
    static const allm_usage full = { .input_tokens = ALLM_NUM(1),
                                     .output_tokens = ALLM_NUM(2) };
    allm_usage *older = noun_sized(&full, sizeof full,
                                   offsetof(allm_usage, output_tokens));
    allm_usage *newer = noun_sized(&full, sizeof full, sizeof full + 8);
    int64_t total = 7;
    CHECK_ALWAYS(!allm_usage_total(older, &total) && total == 7);
    CHECK_ALWAYS(allm_usage_total(newer, &total) && total == 3);
    allm_usage *u = allm_usage_new(older);
    CHECK(!u || (u->input_tokens.set && !u->output_tokens.set));
    allm_usage_free(u);
    free(older);
    free(newer);
}

static void what_is_known_replaces_the_rest(void)
{
    allm_usage all = { .size = sizeof all, .input_tokens = ALLM_NUM(1),
                       .total_tokens = ALLM_NUM(9),
                       .input_cost = ALLM_NUM(0.5) };
    const allm_usage nothing = { .size = sizeof nothing };
    const allm_usage some = { .size = sizeof some,
                              .input_tokens = ALLM_NUM(2),
                              .reasoning_tokens = ALLM_NUM(0),
                              .input_cost = ALLM_NUM(0.75) };
    CHECK_ALWAYS(!usage_lay(&all, &nothing));
    CHECK_INT(all.input_tokens.value, 1);
    CHECK_ALWAYS(usage_lay(&all, &some));
    CHECK_INT(all.input_tokens.value, 2);
    CHECK_INT(all.total_tokens.value, 9);
    CHECK_ALWAYS(all.reasoning_tokens.set && !all.output_tokens.set);
    CHECK_ALWAYS(all.input_cost.value == 0.75);
    CHECK_ALWAYS(usage_lay(&all, &(allm_usage){ .size = sizeof all,
                                                .extra = json_null() }));
}

static void several_are_one(void)
{
    allm_usage sum = { .size = sizeof sum };
    const allm_usage one = { .size = sizeof one, .input_tokens = ALLM_NUM(2),
                             .reasoning_tokens = ALLM_NUM(3),
                             .total_cost = ALLM_NUM(0.25) };
    const allm_usage vast = { .size = sizeof vast,
                              .input_tokens = ALLM_NUM(INT64_MAX),
                              .output_tokens = ALLM_NUM(INT64_MIN) };
    usage_sum(&sum, NULL);
    usage_sum(&sum, &one);
    usage_sum(&sum, &one);
    CHECK_INT(sum.input_tokens.value, 4);
    CHECK_INT(sum.reasoning_tokens.value, 6);
    CHECK_ALWAYS(sum.total_cost.value == 0.5 && !sum.output_tokens.set);
    usage_sum(&sum, &vast);
    usage_sum(&sum, &vast);
    CHECK_INT(sum.input_tokens.value, INT64_MAX);
    CHECK_INT(sum.output_tokens.value, INT64_MIN);
}

static void the_total_tells_what_is_missing(void)
{
    allm_usage u = { .size = sizeof u, .input_tokens = ALLM_NUM(3),
                     .total_tokens = ALLM_NUM(10) };
    CHECK_INT(usage_remainder(&u), 0);
    u.output_tokens = (allm_int){ 2, true };
    CHECK_INT(usage_remainder(&u), 5);
    u.output_tokens.value = INT64_MAX;
    u.input_tokens.value = INT64_MAX;
    CHECK_INT(usage_remainder(&u), 0);
}

static void nothing_is_accepted(void)
{
    int64_t total = 7;
    CHECK_ALWAYS(!allm_usage_total(NULL, &total) && total == 7);
    CHECK_ALWAYS(!allm_usage_json(NULL, ALLM_FORM_PLAIN));
    CHECK_ERROR(allm_usage_error(NULL), ALLM_ERR_NOMEM, "out_of_memory", NULL);
    allm_usage_free(NULL);
}

TESTS = {
    TEST(has_defaults),
    TEST(keeps_every_field),
    TEST(adds_up_what_is_known),
    TEST(refuses_what_does_not_fit),
    TEST(sizes),
    TEST(what_is_known_replaces_the_rest),
    TEST(several_are_one),
    TEST(the_total_tells_what_is_missing),
    TEST(nothing_is_accepted),
    TESTS_END
};
