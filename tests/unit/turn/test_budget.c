/* test_budget.c - a budget that several calls share */
#include "turn/budget.h"

#include "harness/check.h"

#define MS(n) ((int64_t)(n) * 1000000)

static const allm_usage *used(int64_t tokens, double cost)
{
    static allm_usage u;
    u = (allm_usage){ .size = sizeof u, .input_tokens = { tokens, true },
                      .output_tokens = { 0, true },
                      .total_cost = { cost, true } };
    return &u;
}

/* Two calls cannot both use the rest; the unused part is returned. */
static void tokens_are_taken_before_the_call(void)
{
    uint64_t one = 0, two = 0;
    allm_budget *b = allm_budget_new(
        ALLM(budget_opts, .max_tokens = 100, .reserve_tokens = 60));
    if (!b)
        return;
    CHECK_TEXT(budget_take(b, 0, 0, &one), NULL);
    CHECK_INT(one, 60);
    CHECK_TEXT(budget_take(b, 0, 0, &two), "max_tokens");
    CHECK_INT(two, 0);
    CHECK_TEXT(budget_take(b, 0, 41, &two), "max_tokens");
    CHECK_TEXT(budget_take(b, 0, 40, &two), NULL);
    CHECK_INT(allm_budget_tokens(b), 0);
    budget_settle(b, two, NULL);        /* it did not come about */
    budget_settle(b, one, used(10, 0));
    CHECK_INT(allm_budget_tokens(b), 10);
    CHECK_TEXT(budget_take(b, 0, 90, &one), NULL);
    budget_settle(b, one, used(200, 0));        /* more than was thought */
    CHECK_INT(allm_budget_tokens(b), 210);
    CHECK_TEXT(budget_take(b, 0, 1, &one), "max_tokens");
    allm_budget_free(b);
}

static void costs_add_up(void)
{
    uint64_t taken = 0;
    allm_budget *b = allm_budget_new(ALLM(budget_opts, .max_cost = 0.5));
    if (!b)
        return;
    for (int i = 0; i < 2; i++) {
        CHECK_TEXT(budget_take(b, 0, 0, &taken), NULL);
        budget_settle(b, taken, used(1, 0.25));
    }
    CHECK(allm_budget_cost(b) == 0.5);
    CHECK_TEXT(budget_take(b, 0, 0, &taken), "max_cost");
    CHECK_TEXT(budget_take_tools(b, 0, 1), "max_cost");
    allm_budget_free(b);
}

static void calls_of_tools_are_counted(void)
{
    allm_budget *b = allm_budget_new(ALLM(budget_opts, .max_tool_calls = 3));
    if (!b)
        return;
    CHECK_TEXT(budget_take_tools(b, 0, 2), NULL);
    CHECK_TEXT(budget_take_tools(b, 0, 2), "max_tool_calls");
    CHECK_TEXT(budget_take_tools(b, 0, 1), NULL);
    CHECK_TEXT(budget_take_tools(b, 0, 1), "max_tool_calls");
    CHECK_INT(allm_budget_tool_calls(b), 3);
    allm_budget_free(b);
}

/* Time runs from the first use, not from when it was made. */
static void time_runs_from_the_first_use(void)
{
    uint64_t taken = 0;
    allm_budget *b = allm_budget_new(ALLM(budget_opts, .max_ms = 5));
    if (!b)
        return;
    CHECK_TEXT(budget_take(b, MS(1000), 0, &taken), NULL);
    budget_settle(b, taken, NULL);
    CHECK_TEXT(budget_take_tools(b, MS(1004), 1), NULL);
    CHECK_TEXT(budget_take(b, MS(1005), 0, &taken), "max_ms");
    CHECK_TEXT(budget_take_tools(b, MS(1005), 1), "max_ms");
    allm_budget_free(b);
}

/* A caller's clock may go back, and be near the ends of its range. */
static void time_may_go_back(void)
{
    uint64_t taken = 0;
    allm_budget *b = allm_budget_new(ALLM(budget_opts, .max_ms = 5));
    if (!b)
        return;
    CHECK_TEXT(budget_take_tools(b, MS(-1000), 1), NULL);
    CHECK_TEXT(budget_take_tools(b, MS(-1001), 1), NULL);
    CHECK_TEXT(budget_take_tools(b, INT64_MIN, 1), NULL);
    CHECK_TEXT(budget_take(b, INT64_MAX, 0, &taken), "max_ms");
    allm_budget_free(b);
}

static void no_budget_has_no_limit(void)
{
    uint64_t taken = 7;
    CHECK_TEXT(budget_take(NULL, 0, 1 << 30, &taken), NULL);
    CHECK_INT(taken, 0);
    CHECK_TEXT(budget_take_tools(NULL, 0, 1 << 30), NULL);
    budget_settle(NULL, 1, NULL);
    CHECK_INT(allm_budget_tokens(NULL), 0);
    CHECK_INT(allm_budget_tool_calls(NULL), 0);
    CHECK(allm_budget_cost(NULL) == 0);
    CHECK_ALWAYS(allm_budget_error(NULL) != NULL);
}

TESTS = {
    TEST(tokens_are_taken_before_the_call),
    TEST(costs_add_up),
    TEST(calls_of_tools_are_counted),
    TEST(time_runs_from_the_first_use),
    TEST(time_may_go_back),
    TEST(no_budget_has_no_limit),
    TESTS_END,
};
