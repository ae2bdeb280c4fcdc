/* test_usage.c - counts that are sums; fixtures test the rest */
#include "provider/anthropic/usage.h"

#include "harness/noun.h"

#define MOST "9223372036854775807"

/* input, output, total, cached; -1: not reported */
static void adds_up_what_is_there(void)
{
    static const struct {
        const char *usage;
        bool begun;
        int64_t want[4];
    } rows[] = {
        { "{'input_tokens':1,'output_tokens':2}", false, { 1, 2, 3, -1 } },
        { "{'input_tokens':1,'output_tokens':2}", true, { 1, -1, -1, -1 } },
        { "{'input_tokens':1,'cache_read_input_tokens':20,"
          "'cache_creation_input_tokens':300,'output_tokens':4}",
          false, { 321, 4, 325, 20 } },
        { "{'cache_creation_input_tokens':300}", false, { 300, -1, -1, -1 } },
        { "{'input_tokens':-1,'output_tokens':'2'}", false,
          { -1, -1, -1, -1 } },
        { "{'input_tokens':" MOST ",'cache_read_input_tokens':1,"
          "'output_tokens':" MOST "}",
          false, { INT64_MAX, INT64_MAX, INT64_MAX, 1 } },
        { "{}", false, { -1, -1, -1, -1 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        allm_json *v = noun_json(rows[i].usage);
        check_row(rows[i].usage);
        allm_usage u = anthropic_usage_read(&a, v, rows[i].begun);
        const allm_int got[] = { u.input_tokens, u.output_tokens,
                                 u.total_tokens, u.cached_input_tokens };
        for (size_t k = 0; v && k < 4; k++)
            CHECK(got[k].set ? got[k].value == rows[i].want[k]
                             : rows[i].want[k] == -1);
        allm_json_free(v);
        arena_release(&a);
    }
}

TESTS = { TEST(adds_up_what_is_there), TESTS_END };
