/* test_catalog_costs.c - the costs of a response */
#include "engine/catalog.h"

#include "harness/noun.h"

#include <math.h>

#define SET(x) { (x), true }
#define UNSET  { 0, false }

static const struct {
    const char *why, *pricing;
    allm_int in, out;
    allm_num before[3], after[3];       /* input, output, total */
} bills[] = {
    { "both", "{'input':0.15,'output':0.6}", SET(1000), SET(500),
      { UNSET, UNSET, UNSET }, { SET(1.5e-4), SET(3.0e-4), SET(4.5e-4) } },
    { "integers", "{'input':3,'output':15}", SET(1000000), SET(100000),
      { UNSET, UNSET, UNSET }, { SET(3), SET(1.5), SET(4.5) } },
    { "in 17 digits", "{'input':0.14999999999999999,"
      "'output':0.59999999999999998}", SET(1000), SET(500),
      { UNSET, UNSET, UNSET }, { SET(1.5e-4), SET(3.0e-4), SET(4.5e-4) } },
    { "nothing used", "{'input':3,'output':15}", SET(0), SET(0),
      { UNSET, UNSET, UNSET }, { SET(0), SET(0), SET(0) } },
    { "input alone: no total", "{'input':0.15,'output':0.6}", SET(1000),
      UNSET, { UNSET, UNSET, UNSET }, { SET(1.5e-4), UNSET, UNSET } },
    { "output alone", "{'input':0.15,'output':0.6}", UNSET, SET(500),
      { UNSET, UNSET, UNSET }, { UNSET, SET(3.0e-4), UNSET } },
    { "one price", "{'input':0.15}", SET(1000), SET(500),
      { UNSET, UNSET, UNSET }, { SET(1.5e-4), UNSET, UNSET } },
    { "a price that is none", "{'input':'free','output':null}", SET(1000),
      SET(500), { UNSET, UNSET, UNSET }, { UNSET, UNSET, UNSET } },
    { "a cost is kept", "{'input':0.15,'output':0.6}", SET(1000), SET(500),
      { SET(7), UNSET, UNSET }, { SET(7), SET(3.0e-4), SET(7 + 3.0e-4) } },
    { "a total is kept", "{'input':0.15,'output':0.6}", SET(1000), SET(500),
      { UNSET, UNSET, SET(9) }, { SET(1.5e-4), SET(3.0e-4), SET(9) } },
    { "a cost of 0 is kept", "{'input':0.15,'output':0.6}", SET(1000),
      SET(500), { SET(0), SET(0), UNSET }, { SET(0), SET(0), SET(0) } },
    { "no price list", "[0.15, 0.6]", SET(1000), SET(500),
      { SET(1), SET(2), UNSET }, { SET(1), SET(2), UNSET } },
    { "no prices", "null", SET(1000), SET(500), { SET(1), SET(2), UNSET },
      { SET(1), SET(2), UNSET } },
};

static void check_cost(allm_num got, allm_num want)
{
    CHECK_INT(got.set, want.set);
    if (want.set)
        CHECK(got.value == want.value);     /* exactly */
}

static void costs_are_exact_and_never_overwritten(void)
{
    for (size_t i = 0; i < sizeof bills / sizeof *bills; i++) {
        check_row(bills[i].why);
        allm_json *pricing = noun_json(bills[i].pricing);
        allm_model_ref m = { .size = sizeof m, .pricing = pricing };
        allm_usage u = { .size = sizeof u,
                         .input_tokens = bills[i].in,
                         .output_tokens = bills[i].out,
                         .input_cost = bills[i].before[0],
                         .output_cost = bills[i].before[1],
                         .total_cost = bills[i].before[2] };
        if (pricing)
            catalog_costs(&u, &m);
        check_cost(u.input_cost, bills[i].after[0]);
        check_cost(u.output_cost, bills[i].after[1]);
        check_cost(u.total_cost, bills[i].after[2]);
        allm_json_free(pricing);
    }
    allm_usage u = { .size = sizeof u, .input_tokens = SET(5) };
    catalog_costs(&u, NULL);
    CHECK(!u.input_cost.set);
}

static void costs_know_of_caches_and_long_prompts(void)
{
    static const struct {
        const char *why, *pricing, *extra;
        allm_int in, cached;
        double input, output;           /* 1000 tokens of output */
    } rows[] = {
        { "some were in the cache", "{'input':4,'output':20,'cached':0.4}",
          "{}", SET(1000), SET(600), 4 * 400e-6 + 0.4 * 600e-6, 0.02 },
        { "their price is not known", "{'input':4,'output':20}", "{}",
          SET(1000), SET(600), 0.004, 0.02 },
        { "more than there are", "{'input':4,'output':20,'cached':0.4}", "{}",
          SET(1000), SET(6000), 0.0004, 0.02 },
        { "some were written", "{'input':4,'output':20,'cache_write':5}",
          "{'cache_write_input_tokens':100}", SET(1000), UNSET,
          4 * 900e-6 + 5 * 100e-6, 0.02 },
        { "a prompt that is just not long",
          "{'input':4,'output':20,'long':{'above':1000,'input':8,'output':30}}",
          "{}", SET(1000), UNSET, 0.004, 0.02 },
        { "a long one",
          "{'input':4,'output':20,'long':{'above':999,'input':8,'output':30}}",
          "{}", SET(1000), UNSET, 0.008, 0.03 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *pricing = noun_json(rows[i].pricing);
        allm_json *extra = noun_json(rows[i].extra);
        allm_model_ref m = { .size = sizeof m, .pricing = pricing };
        allm_usage u = { .size = sizeof u,
                         .input_tokens = rows[i].in,
                         .cached_input_tokens = rows[i].cached,
                         .output_tokens = SET(1000),
                         .extra = extra };
        check_row(rows[i].why);
        if (pricing && extra) {
            catalog_costs(&u, &m);
            CHECK(fabs(u.input_cost.value - rows[i].input) < 1e-12);
            CHECK(fabs(u.output_cost.value - rows[i].output) < 1e-12);
        }
        allm_json_free(pricing);
        allm_json_free(extra);
    }
}

TESTS = {
    TEST(costs_are_exact_and_never_overwritten),
    TEST(costs_know_of_caches_and_long_prompts),
    TESTS_END
};
