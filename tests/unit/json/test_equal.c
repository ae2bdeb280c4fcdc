/* test_equal.c - which values are equal */
#include "base/buf.h"
#include "harness/check.h"
#include "unit/json/random_value.h"
#include "json/json.h"

static void judges_pairs(void)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        { "null", "null", true },
        { "true", "true", true },
        { "true", "false", false },
        { "null", "false", false },
        { "0", "false", false },
        { "0", "null", false },
        { "1", "1.0", true },
        { "1", "\"1\"", false },
        { "\"a\"", "\"a\"", true },
        { "\"a\"", "\"\\u0061\"", true },
        { "\"a\"", "\"b\"", false },
        { "\"a\"", "\"a\\u0000\"", false },
        { "\"\xC3\xA9\"", "\"e\xCC\x81\"", false },
        { "[]", "[]", true },
        { "[]", "{}", false },
        { "[1,2]", "[1,2]", true },
        { "[1,2]", "[2,1]", false },
        { "[1,2]", "[1,2,3]", false },
        { "[[1],[2]]", "[[1],[2]]", true },
        { "[[1],[2]]", "[[1,2]]", false },
        { "[[],[]]", "[[[]]]", false },
        { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true },
        { "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}", false },
        { "{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false },
        { "{\"a\":1}", "{\"a\":1,\"b\":2}", false },
        { "{\"a\":null}", "{}", false },
        { "{\"a\":null}", "{\"b\":null}", false },
        { "{\"a\":{\"x\":[1,{\"y\":2}]},\"b\":[]}",
          "{\"b\":[],\"a\":{\"x\":[1.0,{\"y\":2}]}}", true },
        { "{\"a\":{\"x\":[1,{\"y\":2}]},\"b\":[]}",
          "{\"b\":[],\"a\":{\"x\":[1,{\"y\":3}]}}", false },
        { "{\"c\":1,\"a\":2,\"b\":3,\"d\":4}", "{\"a\":2,\"b\":3,\"c\":1,"
          "\"d\":4}", true },
        { "{\"\":1}", "{\"\":1}", true },
        { "1e400", "1e400", true },
        { "[1e400]", "[1e401]", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].a);
        allm_json *a = allm_json_parse(rows[i].a, ALLM_NUL_ENDED, NULL);
        allm_json *b = allm_json_parse(rows[i].b, ALLM_NUL_ENDED, NULL);
        CHECK(allm_json_equal(a, b) == rows[i].equal);
        CHECK(allm_json_equal(b, a) == rows[i].equal);
        CHECK(allm_json_equal(a, a) && allm_json_equal(b, b));
        allm_json_free(a);
        allm_json_free(b);
    }
}

static void what_failed_equals_nothing(void)
{
    allm_json *v = allm_json_parse("[", ALLM_NUL_ENDED, NULL);
    CHECK_ALWAYS(!allm_json_equal(v, v));
    CHECK_ALWAYS(!allm_json_equal(v, json_null()));
    CHECK_ALWAYS(!allm_json_equal(json_null(), v));
    allm_json_free(v);
}

/* An object of n members, the first of them number `first`, going round. */
static const allm_json *members(struct arena *a, size_t n, size_t first,
                                size_t step, size_t odd)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    for (size_t i = 0; i < n; i++) {
        size_t at = (first + i * step) % n;
        struct buf key;
        buf_init(&key, a, 64);
        buf_format(&key, "member %zu", at);
        build_key(&b, buf_slice(&key));
        build_uint(&b, at == odd ? 0 : at + 1);
    }
    build_end(&b);
    return build_done(&b);
}

static void order_does_not_matter_in_big_objects(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_json *v = members(&a, 100, 0, 1, 100);
    CHECK(allm_json_equal(v, members(&a, 100, 50, 1, 100)));
    CHECK(allm_json_equal(v, members(&a, 100, 99, 99, 100)));
    CHECK(!allm_json_equal(v, members(&a, 100, 99, 99, 17)));
    CHECK(!allm_json_equal(v, members(&a, 101, 0, 1, 101)));
    arena_release(&a);
}

/* Quadratic work would take hours. */
static void big_objects_are_quick(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_json *v = members(&a, 300000, 0, 1, SIZE_MAX);
    CHECK(allm_json_equal(v, members(&a, 300000, 7, 299993, SIZE_MAX)));
    arena_release(&a);
}

static void random_values_equal_their_copies(void)
{
    struct random r = check_random();
    for (int i = 0; i < 200; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        const allm_json *v = random_value(&a, r, 1 + random_below(r, 60));
        const allm_json *w = random_value(&a, r, 1 + random_below(r, 60));
        allm_json *copy = allm_json_copy(v);
        CHECK(allm_json_equal(v, copy));
        CHECK(json_same(v, copy));
        CHECK(!json_same(v, w) || allm_json_equal(v, w));
        CHECK(allm_json_equal(v, w) == allm_json_equal(w, v));
        allm_json_free(copy);
        arena_release(&a);
    }
}

static void the_same_is_spelled_alike(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        { "[1,\"x\",{\"a\":null}]", "[1,\"x\",{\"a\":null}]", true },
        { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", false },
        { "[1]", "[1.0]", false },
        { "[1]", "[2]", false },
        { "[1]", "[1,1]", false },
        { "[\"x\"]", "[\"y\"]", false },
        { "true", "false", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *a = allm_json_parse(rows[i].a, ALLM_NUL_ENDED, NULL);
        allm_json *b = allm_json_parse(rows[i].b, ALLM_NUL_ENDED, NULL);
        if (a && b && !allm_json_error(a) && !allm_json_error(b))
            CHECK_INT(json_same(a, b), rows[i].same);
        CHECK(!json_same(a, NULL) && !json_same(NULL, b));
        allm_json_free(a);
        allm_json_free(b);
    }
}

TESTS = {
    TEST(judges_pairs),
    TEST(the_same_is_spelled_alike),
    TEST(what_failed_equals_nothing),
    TEST(order_does_not_matter_in_big_objects),
    TEST_ONCE(big_objects_are_quick),
    TEST_ONCE(random_values_equal_their_copies),
    TESTS_END
};
