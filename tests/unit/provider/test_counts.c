/* test_counts.c - token counts that may be unknown */
#include "provider/counts.h"

#include "harness/check.h"

static void sums_ignore_what_is_unknown(void)
{
    const allm_int none = { 0, false }, two = { 2, true };
    const allm_int most = { INT64_MAX, true };
    CHECK(!counts_add(none, none).set);
    CHECK_INT(counts_add(none, two).value, 2);
    CHECK_INT(counts_add(two, none).value, 2);
    CHECK_INT(counts_add(two, two).value, 4);
    CHECK(counts_add(two, most).value == INT64_MAX);
}

static void only_counts_are_read(void)
{
    allm_json *v = allm_json_parse("{\"a\": 7, \"b\": -1, \"c\": \"3\"}",
                                   ALLM_NUL_ENDED, NULL);
    CHECK_INT(counts_at(v, "a").value, 7);
    CHECK(!counts_at(v, "b").set && !counts_at(v, "c").set);
    CHECK(!counts_at(v, "d").set && !counts_at(NULL, "a").set);
    allm_json_free(v);
}

TESTS = {
    TEST(sums_ignore_what_is_unknown),
    TEST(only_counts_are_read),
    TESTS_END,
};
