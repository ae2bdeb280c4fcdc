/* test_json.c - values, getters, iteration, copies and roots */
#include "json/json.h"

#include "base/status.h"
#include "harness/check.h"
#include "unit/json/random_value.h"

#include <float.h>
#include <stdio.h>

static const char sample[] =
    "{\"text\":\"Ulm\",\"nul\":\"a\\u0000b\",\"int\":-5,\"real\":2.5,"
    "\"whole\":3.0,\"big\":1e400,\"yes\":true,\"no\":false,\"null\":null,"
    "\"flat\":[1,2,3],\"deep\":[[1],{\"x\":[2]},3],\"empty\":{},\"\":0}";

static void types_are_reported(void)
{
    static const struct {
        const char *key;
        allm_json_type type;
        size_t count;
    } rows[] = {
        { "text", ALLM_JSON_TEXT, 0 },   { "int", ALLM_JSON_INT, 0 },
        { "real", ALLM_JSON_REAL, 0 },   { "whole", ALLM_JSON_REAL, 0 },
        { "big", ALLM_JSON_BIG, 0 },     { "yes", ALLM_JSON_BOOL, 0 },
        { "no", ALLM_JSON_BOOL, 0 },     { "null", ALLM_JSON_NULL, 0 },
        { "flat", ALLM_JSON_ARRAY, 3 },  { "deep", ALLM_JSON_ARRAY, 3 },
        { "empty", ALLM_JSON_OBJECT, 0 }, { "", ALLM_JSON_INT, 0 },
        { "missing", ALLM_JSON_NONE, 0 },
    };
    allm_json *v = allm_json_parse(sample, ALLM_NUL_ENDED, NULL);
    CHECK_INT(allm_json_type_of(v), ALLM_JSON_OBJECT);
    CHECK_INT(allm_json_count(v), 13);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].key);
        const allm_json *m = allm_json_get(v, rows[i].key);
        CHECK_INT(allm_json_type_of(m), rows[i].type);
        CHECK_INT(allm_json_count(m), rows[i].count);
    }
    allm_json_free(v);
}

static void getters_find(void)
{
    allm_json *v = allm_json_parse(sample, ALLM_NUL_ENDED, NULL);
    const allm_json *deep = allm_json_get(v, "deep");
    size_t len;
    CHECK_TEXT(allm_json_text(allm_json_get(v, "text"), NULL), "Ulm");
    const char *nul = allm_json_text(allm_json_get(v, "nul"), &len);
    CHECK_SLICE(((struct slice){ nul, len }), ((struct slice){ "a\0b", 3 }));
    CHECK_TEXT(allm_json_text(allm_json_get(v, "big"), &len), "1e400");
    CHECK_INT(len, 5);
    CHECK(allm_json_true(allm_json_get(v, "yes")));
    CHECK(!allm_json_true(allm_json_get(v, "no")));
    CHECK(!allm_json_true(allm_json_get(v, "int")));
    CHECK_INT(allm_json_number(allm_json_get(v, "int")), -5);
    CHECK(allm_json_number(allm_json_get(v, "real")) == 2.5);
    CHECK_INT(allm_json_number(allm_json_at(allm_json_get(v, "flat"), 2)), 3);
    CHECK(!allm_json_at(allm_json_get(v, "flat"), 3));
    CHECK_INT(allm_json_number(allm_json_at(deep, 2)), 3);
    CHECK(!allm_json_at(deep, 3));
    CHECK(!allm_json_at(v, 0));
    CHECK(!allm_json_get(deep, "x"));
    CHECK_INT(allm_json_number(
                  allm_json_at(allm_json_get(allm_json_at(deep, 1), "x"), 0)),
              2);
    CHECK(json_is(allm_json_get(v, "text"), "Ulm"));
    CHECK(!json_is(allm_json_get(v, "text"), "Ul"));
    CHECK(!json_is(allm_json_get(v, "nul"), "a"));
    CHECK_SLICE(json_slice(allm_json_get(v, "text")), SLICE("Ulm"));
    CHECK(!json_slice(allm_json_get(v, "big")).ptr);
    CHECK(json_get(v, SLICE("")) != NULL);
    allm_json_free(v);
}

static void null_is_accepted(void)
{
    int64_t i = 7;
    uint64_t u = 7;
    size_t len = 7;
    CHECK_INT(allm_json_type_of(NULL), ALLM_JSON_NONE);
    CHECK(!allm_json_get(NULL, "a"));
    CHECK(!allm_json_get(json_empty_object(), NULL));
    CHECK(!allm_json_at(NULL, 0));
    CHECK_INT(allm_json_count(NULL), 0);
    CHECK(!allm_json_true(NULL));
    CHECK(allm_json_number(NULL) == 0);
    CHECK(!allm_json_int64(NULL, &i) && i == 7);
    CHECK(!allm_json_uint64(NULL, &u) && u == 7);
    CHECK(!allm_json_text(NULL, &len) && len == 0);
    CHECK(!allm_json_next(NULL, NULL));
    CHECK(!allm_json_value(NULL));
    CHECK(!allm_json_pointer(NULL, ""));
    CHECK(!allm_json_equal(NULL, NULL));
    CHECK(!allm_json_copy(NULL));
    CHECK(!allm_json_write(NULL, 0));
    CHECK(!allm_json_set(NULL, "a", NULL));
    CHECK(!allm_json_merge(NULL, json_empty_object()));
    CHECK(!allm_json_merge(json_empty_object(), NULL));
    CHECK(!allm_json_patch(NULL, NULL));
    CHECK(!json_copy(NULL, NULL));
    CHECK_INT(json_size(NULL), 0);
    CHECK(!json_home(NULL));
    CHECK(!json_slice(NULL).ptr);
    CHECK(!json_is(NULL, "a"));
    CHECK(allm_json_error(NULL) == status_nomem());
    allm_json_free(NULL);
}

static void integers_are_exact(void)
{
    static const struct {
        const char *text;
        bool is_int64, is_uint64;
        int64_t i;
        uint64_t u;
    } rows[] = {
        { "0", true, true, 0, 0 },
        { "-1", true, false, -1, 0 },
        { "9223372036854775807", true, true, INT64_MAX, INT64_MAX },
        { "-9223372036854775808", true, false, INT64_MIN, 0 },
        { "9223372036854775808", false, true, 0, 9223372036854775808u },
        { "18446744073709551615", false, true, 0, UINT64_MAX },
        { "18446744073709551616", false, false, 0, 0 },
        { "3.0", true, true, 3, 3 },
        { "-3.0", true, false, -3, 0 },
        { "-0", true, true, 0, 0 },
        { "1e3", true, true, 1000, 1000 },
        { "2.5", false, false, 0, 0 },
        { "9223372036854775808.0", false, true, 0, 9223372036854775808u },
        { "-9223372036854775808.0", true, false, INT64_MIN, 0 },
        { "1e19", false, true, 0, 10000000000000000000u },
        { "1e20", false, false, 0, 0 },
        { "-1e20", false, false, 0, 0 },
        { "18446744073709551615.0", false, true, 0, UINT64_MAX },
        { "18446744073709551615.5", false, false, 0, 0 },
        { "18446744073709551616.0", false, false, 0, 0 },
        { "-18446744073709551615.0", false, false, 0, 0 },
        { "-9223372036854775809.0", false, false, 0, 0 },
        { "9223372036854775807.00", true, true, INT64_MAX, INT64_MAX },
        { "922337203685477580.7e1", true, true, INT64_MAX, INT64_MAX },
        { "12345678901234567890e-19", false, false, 0, 0 },
        { "1e-400", false, false, 0, 0 },
        { "1e400", false, false, 0, 0 },
        { "\"1\"", false, false, 0, 0 },
        { "true", false, false, 0, 0 },
        { "[1]", false, false, 0, 0 },
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        check_row(rows[n].text);
        int64_t i = 0;
        uint64_t u = 0;
        allm_json *v = allm_json_parse(rows[n].text, ALLM_NUL_ENDED, NULL);
        CHECK(allm_json_int64(v, &i) == rows[n].is_int64);
        CHECK(allm_json_uint64(v, &u) == rows[n].is_uint64);
        CHECK(i == rows[n].i && u == rows[n].u);
        CHECK(allm_json_int64(v, NULL) == rows[n].is_int64);
        CHECK(allm_json_uint64(v, NULL) == rows[n].is_uint64);
        allm_json_free(v);
    }
}

static void walks_in_order(void)
{
    allm_json *v = allm_json_parse("{\"a\":[1,[2,3],{\"x\":4},5],\"b\":{},"
                                   "\"c\":[]}",
                                   ALLM_NUL_ENDED, NULL);
    char keys[8] = "", *at = keys;
    const allm_json *key = NULL, *e = NULL;
    while ((key = allm_json_next(v, key)) != NULL)
        *at++ = *allm_json_text(key, NULL);
    *at = '\0';
    CHECK_TEXT(keys, "abc");

    size_t n = 0;
    const allm_json *a = allm_json_value(allm_json_next(v, NULL));
    while ((e = allm_json_next(a, e)) != NULL)
        CHECK(e == allm_json_at(a, n++));
    CHECK_INT(n, 4);
    CHECK(!allm_json_next(allm_json_get(v, "b"), NULL));
    CHECK(!allm_json_next(allm_json_get(v, "c"), NULL));
    CHECK(!allm_json_next(allm_json_at(a, 0), NULL));
    CHECK(!allm_json_value(a));
    allm_json_free(v);
}

static void copies_are_equal_and_apart(void)
{
    allm_json *v = allm_json_parse(sample, ALLM_NUL_ENDED, NULL);
    allm_json *copy = allm_json_copy(v);
    allm_json *member = allm_json_copy(allm_json_get(v, "deep"));
    allm_json_free(v);
    v = allm_json_parse(sample, ALLM_NUL_ENDED, NULL);
    CHECK(!allm_json_error(copy));
    CHECK(allm_json_equal(v, copy));
    CHECK(allm_json_equal(allm_json_get(v, "deep"), member));
    CHECK_TEXT(allm_json_text(allm_json_get(copy, "text"), NULL), "Ulm");
    allm_json_free(v);
    allm_json_free(copy);
    allm_json_free(member);
}

static void a_copy_takes_what_was_said(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    allm_json *v = allm_json_parse(sample, ALLM_NUL_ENDED, NULL);
    const allm_json *copy = json_copy(&a, v);
    CHECK(!copy || (size_t)(a.at - a.last) >= json_size(v));
    CHECK(!copy || (size_t)(a.at - a.last) < json_size(v) + 8);
    CHECK(!json_home(copy));
    CHECK(!allm_json_error(copy) || !check_whole());
    arena_release(&a);
    allm_json_free(v);
}

static void a_copied_failure_says_the_same(void)
{
    allm_json *v = allm_json_parse("[1", ALLM_NUL_ENDED, NULL);
    allm_json *copy = allm_json_copy(v);
    const allm_error *e = allm_json_error(v);
    CHECK(e == allm_json_error(copy));
    allm_json_free(v);
    CHECK_INT(allm_json_type_of(copy), ALLM_JSON_NONE);
    e = allm_json_error(copy);
    CHECK(e && (e->kind == ALLM_ERR_VALIDATION || !check_whole()));
    CHECK(e && *e->message);
    allm_json_free(copy);
}

static void constants_are_values(void)
{
    static const struct {
        const char *text;
        const allm_json *(*make)(void);
    } rows[] = {
        { "{}", json_empty_object },
        { "[]", json_empty_array },
        { "null", json_null },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const allm_json *v = rows[i].make();
        allm_text *t = allm_json_write(v, 0);
        CHECK_TEXT(allm_text_bytes(t, NULL), rows[i].text);
        CHECK(!allm_json_error(v));
        CHECK(!allm_json_next(v, NULL));
        allm_text_free(t);
    }
    CHECK(allm_json_true(json_bool(true)) && !allm_json_true(json_bool(false)));
    CHECK_INT(allm_json_type_of(json_bool(false)), ALLM_JSON_BOOL);
}

static void only_roots_have_a_home(void)
{
    allm_json *v = allm_json_parse("[[1],{\"a\":2}]", ALLM_NUL_ENDED, NULL);
    CHECK(json_home(v) != NULL);
    for (const allm_json *e = NULL; (e = allm_json_next(v, e)) != NULL;)
        CHECK(!json_home(e) && !allm_json_error(e));
    allm_json *copy = json_root(mem_default(), allm_json_at(v, 1));
    CHECK(copy == NULL || json_home(copy) != json_home(v));
    CHECK_INT(allm_json_count(copy), 1);
    allm_json_free(copy);
    allm_json_free(v);
}

static void a_root_of_nothing_is_empty(void)
{
    allm_json *v = json_root(mem_default(), NULL);
    CHECK_INT(allm_json_type_of(v), ALLM_JSON_NONE);
    CHECK(!allm_json_error(v));
    CHECK(!json_root_of(NULL, json_null(), NULL));
    allm_json_free(v);
}

/* 100,000 levels: nothing may recurse. */
static void deep_values_are_no_danger(void)
{
    enum { DEEP = 100000 };
    struct arena a;
    struct build b;
    arena_init(&a, mem_default());
    build_init(&b, &a);
    for (int i = 0; i < DEEP; i++) {
        if (i & 1) {
            build_array(&b);
        } else {
            build_object(&b);
            build_key(&b, SLICE("k"));
        }
    }
    build_text(&b, SLICE("end"));
    for (int i = 0; i < DEEP; i++)
        build_end(&b);
    const allm_json *v = build_done(&b);
    allm_json *copy = allm_json_copy(v);
    CHECK(v != NULL);
    CHECK(allm_json_equal(v, copy));
    allm_text *t = allm_json_write(copy, 0);
    size_t len;
    const char *text = allm_text_bytes(t, &len);
    allm_json *again = allm_json_parse(text, len,
                                       ALLM(json_opts, .max_depth = DEEP));
    CHECK(allm_json_equal(again, v));
    allm_json *patched = allm_json_patch(v, copy);
    CHECK(allm_json_equal(patched, v));
    allm_json_free(patched);
    allm_json_free(again);
    allm_text_free(t);
    allm_json_free(copy);
    arena_release(&a);
}

/* Every key is found, whatever its bits are. */
static void a_view_finds_what_is_there(void)
{
    allm_json *v = allm_json_parse(sample, ALLM_NUL_ENDED, NULL);
    struct json_view view, none, list;
    json_view_init(&view, v);
    json_view_init(&none, NULL);
    json_view_init(&list, allm_json_get(v, "flat"));
    for (const allm_json *k = NULL; (k = allm_json_next(v, k));)
        CHECK(json_in(&view, json_slice(k)) == allm_json_value(k));
    CHECK(!json_in(&view, SLICE("absent")));
    CHECK(!json_in(&view, SLICE("tint")));
    CHECK(!json_in(&none, SLICE("text")));
    CHECK(!json_in(&list, SLICE("text")));
    CHECK(json_at(v, "text") == allm_json_get(v, "text"));
    allm_json_free(v);
}

/* Keys that share a slot, and keys far away from their object. */
static void a_view_of_many_finds_them_all(void)
{
    char text[4096] = "{", key[16];
    struct json_view view;
    for (int i = 0; i < 200; i++)
        snprintf(text + strlen(text), 20, "\"k%03d\":[%d],", i, i);
    snprintf(text + strlen(text), 20, "\"\":0}");
    allm_json *v = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    json_view_init(&view, v);
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "k%03d", i);
        CHECK(json_in(&view, slice_of(key)) == allm_json_get(v, key));
    }
    CHECK(json_in(&view, SLICE("")) == allm_json_get(v, ""));
    CHECK(!json_in(&view, SLICE("k200")));
    allm_json_free(v);
}

static void the_inline_getter_of_numbers_agrees(void)
{
    static const char *const texts[] = {
        "0", "7", "-1", "1.0", "1.5", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "1e3", "\"1\"", "[]"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t a = 5, b = 5;
        allm_json *v = allm_json_parse(texts[i], ALLM_NUL_ENDED, NULL);
        CHECK_INT(json_int64(v, &a), allm_json_int64(v, &b));
        CHECK_INT(a, b);
        allm_json_free(v);
    }
    int64_t n = 5;
    CHECK(!json_int64(NULL, &n));
}

/* However many digits it is written with. */
static void a_finite_number_is_what_a_double_holds(void)
{
    static const struct {
        const char *text;
        bool finite;
        double value;
    } rows[] = {
        { "0", true, 0 },
        { "-7", true, -7 },
        { "2.5", true, 2.5 },
        { "18446744073709551615", true, 18446744073709551615.0 },
        { "0.10000000000000001", true, 0.1 },   /* not the shortest form */
        { "-0.30099999999999999", true, -0.301 },
        { "0.1000000000000000055511151231257827", true, 0.1 },
        { "123456789012345678901234567890", true,
          123456789012345678901234567890.0 },
        { "1e-999", true, 0 },
        { "1e999", false, 5 },
        { "-1e999", false, 5 },
        { "\"1\"", false, 5 },
        { "true", false, 5 },
        { "null", false, 5 },
        { "[1]", false, 5 },
    };
    double x = 5;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].text);
        allm_json *v = allm_json_parse(rows[i].text, ALLM_NUL_ENDED, NULL);
        x = 5;
        CHECK(json_finite(v, &x) == rows[i].finite);
        CHECK(x == rows[i].value);
        allm_json_free(v);
    }
    CHECK_ALWAYS(!json_finite(NULL, &x));
}

TESTS = {
    TEST(a_finite_number_is_what_a_double_holds),
    TEST(types_are_reported),
    TEST(getters_find),
    TEST(a_view_finds_what_is_there),
    TEST(a_view_of_many_finds_them_all),
    TEST(null_is_accepted),
    TEST(integers_are_exact),
    TEST(the_inline_getter_of_numbers_agrees),
    TEST(walks_in_order),
    TEST(copies_are_equal_and_apart),
    TEST(a_copy_takes_what_was_said),
    TEST(a_copied_failure_says_the_same),
    TEST(constants_are_values),
    TEST(only_roots_have_a_home),
    TEST(a_root_of_nothing_is_empty),
    TEST_ONCE(deep_values_are_no_danger),
    TESTS_END
};
