/* test_patch.c - set, merge, merge patch */
#include "base/status.h"
#include "harness/check.h"
#include "unit/json/random_value.h"
#include "json/build.h"
#include "json/json.h"

static void check_result(allm_json *v, const char *want)
{
    allm_text *t = allm_json_write(v, 0);
    CHECK(!allm_json_error(v));
    CHECK_TEXT(allm_text_bytes(t, NULL), want);
    allm_text_free(t);
    allm_json_free(v);
}

static void sets_a_member(void)
{
    static const struct {
        const char *why, *object, *key, *value, *want;
    } rows[] = {
        { "a new one comes last", "{\"a\":1}", "b", "2", "{\"a\":1,\"b\":2}" },
        { "an old one keeps its place", "{\"a\":1,\"b\":2}", "a", "[3]",
          "{\"a\":[3],\"b\":2}" },
        { "null is a value", "{\"a\":1}", "a", "null", "{\"a\":null}" },
        { "no value removes", "{\"a\":1,\"b\":2}", "a", NULL, "{\"b\":2}" },
        { "removing what is not there", "{\"a\":1}", "b", NULL, "{\"a\":1}" },
        { "into an empty one", "{}", "", "{}", "{\"\":{}}" },
        { "the last one removed", "{\"a\":1}", "a", NULL, "{}" },
        { "a key becomes UTF-8", "{\"\xEF\xBF\xBD\":1}", "\xFF", "2",
          "{\"\xEF\xBF\xBD\":2}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *object = allm_json_parse(rows[i].object, ALLM_NUL_ENDED,
                                            NULL);
        allm_json *value = rows[i].value ? allm_json_parse(rows[i].value,
                                                           ALLM_NUL_ENDED, NULL)
                                         : NULL;
        allm_json *v = allm_json_set(object, rows[i].key, value);
        allm_json_free(object);
        allm_json_free(value);
        check_result(v, rows[i].want);
    }
}

static void merges_members(void)
{
    static const struct {
        const char *why, *under, *over, *want;
    } rows[] = {
        { "both empty", "{}", "{}", "{}" },
        { "over nothing", "{}", "{\"a\":1}", "{\"a\":1}" },
        { "nothing over", "{\"a\":1}", "{}", "{\"a\":1}" },
        { "the upper wins, in its place", "{\"a\":1,\"b\":2}",
          "{\"c\":3,\"a\":4}", "{\"a\":4,\"b\":2,\"c\":3}" },
        { "it is shallow", "{\"a\":{\"x\":1}}", "{\"a\":{\"y\":2}}",
          "{\"a\":{\"y\":2}}" },
        { "null is a value", "{\"a\":1}", "{\"a\":null}", "{\"a\":null}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *a = allm_json_parse(rows[i].under, ALLM_NUL_ENDED, NULL);
        allm_json *b = allm_json_parse(rows[i].over, ALLM_NUL_ENDED, NULL);
        allm_json *v = allm_json_merge(a, b);
        allm_json_free(a);
        allm_json_free(b);
        check_result(v, rows[i].want);
    }
}

/* The test cases of RFC 7396, appendix A, and more. */
static void patches(void)
{
    static const struct {
        const char *target, *patch, *want;
    } rows[] = {
        { "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
        { "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
        { "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
        { "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
        { "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
        { "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
        { "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
          "{\"a\":{\"b\":\"d\"}}" },
        { "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
        { "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
        { "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
        { "{\"a\":\"foo\"}", "null", "null" },
        { "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
        { "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
        { "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
        { "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
        { "{}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}" },
        { "{\"a\":1}", "{\"a\":{\"b\":{\"c\":2,\"d\":null}}}",
          "{\"a\":{\"b\":{\"c\":2}}}" },
        { "{\"a\":{\"x\":1},\"b\":2}", "{\"b\":{\"y\":1},\"a\":{\"z\":3},"
          "\"c\":{}}", "{\"a\":{\"x\":1,\"z\":3},\"b\":{\"y\":1},\"c\":{}}" },
        { "null", "{}", "{}" },
        { "{\"a\":1}", "{}", "{\"a\":1}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].patch);
        allm_json *a = allm_json_parse(rows[i].target, ALLM_NUL_ENDED, NULL);
        allm_json *b = allm_json_parse(rows[i].patch, ALLM_NUL_ENDED, NULL);
        allm_json *v = allm_json_patch(a, b);
        allm_json_free(a);
        allm_json_free(b);
        check_result(v, rows[i].want);
    }
}

static void refuses_misuse(void)
{
    allm_json *failed = allm_json_parse("[", ALLM_NUL_ENDED, NULL);
    const allm_json *object = json_empty_object();
    const allm_json *list = json_empty_array();
    allm_json *v[] = {
        allm_json_set(list, "a", object),
        allm_json_set(object, NULL, object),
        allm_json_set(object, "a", failed),
        allm_json_set(failed, "a", object),
        allm_json_merge(list, object),
        allm_json_merge(object, list),
        allm_json_merge(failed, object),
        allm_json_patch(failed, object),
        allm_json_patch(object, failed),
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        const allm_error *e = allm_json_error(v[i]);
        CHECK(e && e->kind == ALLM_ERR_MISUSE);
        CHECK_INT(allm_json_type_of(v[i]), ALLM_JSON_NONE);
        allm_json_free(v[i]);
    }
    allm_json_free(failed);
}

static void what_is_no_object_counts_as_empty(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_json *v = json_set(&a, NULL, SLICE("a"), json_null());
    CHECK_INT(allm_json_count(v), 1);
    v = json_merge(&a, json_null(), v);
    CHECK_INT(allm_json_count(v), 1);
    v = json_merge(&a, v, NULL);
    CHECK_INT(allm_json_count(v), 1);
    arena_release(&a);
}

/* The laws: patching with {} or with oneself (if there are no nulls) changes
 * nothing; a patch applied twice is applied once; merge agrees with patch on
 * flat members without null. */
static void patch_laws(void)
{
    struct random r = check_random();
    for (int i = 0; i < 200; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        const allm_json *t = random_value(&a, r, 1 + random_below(r, 40));
        const allm_json *p = random_value(&a, r, 1 + random_below(r, 40));
        allm_json *once = allm_json_patch(t, p);
        allm_json *twice = allm_json_patch(once, p);
        CHECK(allm_json_equal(once, twice));
        if (allm_json_type_of(t) == ALLM_JSON_OBJECT) {
            allm_json *same = allm_json_patch(t, json_empty_object());
            CHECK(allm_json_equal(t, same));
            allm_json_free(same);
            allm_json *merged = allm_json_merge(t, t);
            CHECK(allm_json_equal(t, merged));
            allm_json_free(merged);
        }
        allm_json_free(once);
        allm_json_free(twice);
        arena_release(&a);
    }
}

/* An object of n members, numbered from `first`. */
static const allm_json *many(struct arena *a, size_t n, size_t first)
{
    struct build b;
    build_init(&b, a);
    build_object(&b);
    for (size_t i = 0; i < n; i++) {
        struct buf key;
        buf_init(&key, a, 64);
        buf_format(&key, "member %zu", first + i);
        build_key(&b, buf_slice(&key));
        build_uint(&b, first);
    }
    build_end(&b);
    return build_done(&b);
}

static void big_objects_are_quick(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    const allm_json *t = many(&a, 100000, 0), *p = many(&a, 100000, 50000);
    allm_json *patched = allm_json_patch(t, p);
    allm_json *merged = allm_json_merge(t, p);
    CHECK_INT(allm_json_count(patched), 150000);
    CHECK(allm_json_equal(patched, merged));
    CHECK_INT(allm_json_number(allm_json_get(merged, "member 49999")), 0);
    CHECK_INT(allm_json_number(allm_json_get(merged, "member 50000")), 50000);
    allm_json_free(patched);
    allm_json_free(merged);
    arena_release(&a);
}

TESTS = {
    TEST(sets_a_member),
    TEST(merges_members),
    TEST(patches),
    TEST(refuses_misuse),
    TEST(what_is_no_object_counts_as_empty),
    TEST_ONCE(patch_laws),
    TEST_ONCE(big_objects_are_quick),
    TESTS_END
};
