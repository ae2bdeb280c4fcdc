/* test_write.c - a value always yields the same bytes, and they are JSON */
#include "json/write.h"

#include "harness/check.h"
#include "unit/json/random_value.h"
#include "json/build.h"
#include "json/json.h"

static void writes_compact_and_pretty(void)
{
    static const struct {
        const char *why, *text, *pretty;
    } rows[] = {
        { "a scalar", "1", "1" },
        { "an empty array", "[]", "[]" },
        { "an empty object", "{}", "{}" },
        { "one element", "[1]", "[\n  1\n]" },
        { "one member", "{\"a\":1}", "{\n  \"a\": 1\n}" },
        { "empty ones inside", "[[],{}]", "[\n  [],\n  {}\n]" },
        { "nested", "{\"a\":[1,{\"b\":null}],\"c\":true}",
          "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n"
          "  \"c\": true\n}" },
        { "closing several", "[[[1]]]",
          "[\n  [\n    [\n      1\n    ]\n  ]\n]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *v = allm_json_parse(rows[i].text, ALLM_NUL_ENDED, NULL);
        allm_text *compact = allm_json_write(v, 0);
        allm_text *pretty = allm_json_write(v, ALLM_JSON_PRETTY);
        CHECK_TEXT(allm_text_bytes(compact, NULL), rows[i].text);
        CHECK_TEXT(allm_text_bytes(pretty, NULL), rows[i].pretty);
        allm_text_free(compact);
        allm_text_free(pretty);
        allm_json_free(v);
    }
}

static void escapes_what_must_be(void)
{
    static const struct {
        const char *why;
        struct slice text;
        const char *want;
    } rows[] = {
        { "nothing", { "", 0 }, "\"\"" },
        { "plain", { "plain text", 10 }, "\"plain text\"" },
        { "the short escapes", { "\"\\\b\f\n\r\t", 7 },
          "\"\\\"\\\\\\b\\f\\n\\r\\t\"" },
        { "control characters", { "\0\x01\x1F", 3 },
          "\"\\u0000\\u0001\\u001F\"" },
        { "what needs none", { "/\x7F<>&'", 6 }, "\"/\x7F<>&'\"" },
        { "UTF-8", { "\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80", 9 },
          "\"\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80\"" },
        { "in the first of eight", { "\n1234567", 8 }, "\"\\n1234567\"" },
        { "in the last of eight", { "1234567\n", 8 }, "\"1234567\\n\"" },
        { "in the ninth", { "12345678\n", 9 }, "\"12345678\\n\"" },
        { "a quote behind UTF-8", { "\xC3\xA9\"", 3 }, "\"\xC3\xA9\\\"\"" },
        { "a bad byte", { "a\xFF" "b", 3 }, "\"a\xEF\xBF\xBD" "b\"" },
        { "a cut sequence", { "a\xE6\xBC", 3 },
          "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct arena a;
        struct build b;
        struct buf out;
        arena_init(&a, mem_default());
        build_init(&b, &a);
        build_text(&b, rows[i].text);
        buf_init(&out, &a, 4096);
        CHECK(json_write(&out, build_done(&b), 0));
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i].want));
        arena_release(&a);
    }
}

static void appends(void)
{
    struct arena a;
    struct buf out;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 4096);
    buf_text(&out, "data: ");
    CHECK(json_write(&out, json_null(), 0));
    buf_text(&out, ";");
    CHECK(json_write(&out, json_empty_array(), 0));
    CHECK_SLICE(buf_slice(&out), SLICE("data: null;[]"));
    CHECK(!out.ptr || out.ptr[out.len] == '\0');
    arena_release(&a);
}

/* The limit applies to the bytes written, not to an estimate. */
static void keeps_the_limit_of_the_buffer(void)
{
    static const char text[] = "{\"a\":[1,2.5,\"x\\ny\",true,null],\"b\":{}}";
    allm_json *v = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    for (size_t limit = 0; limit <= sizeof text; limit++) {
        struct arena a;
        struct buf out;
        arena_init(&a, mem_default());
        buf_init(&out, &a, limit);
        bool fits = limit >= sizeof text - 1;
        CHECK(json_write(&out, v, 0) == fits);
        CHECK(out.broken == !fits && out.over == !fits);
        CHECK_ALWAYS(!out.ptr || !out.ptr[out.len]);
        arena_release(&a);
    }
    allm_json_free(v);
}

static void refuses_what_is_no_value(void)
{
    struct arena a;
    struct buf out;
    arena_init(&a, mem_default());
    buf_init(&out, &a, 100);
    CHECK_ALWAYS(!json_write(&out, NULL, 0) && out.broken);
    allm_json *failed = allm_json_parse("[", ALLM_NUL_ENDED, NULL);
    buf_clear(&out);
    CHECK_ALWAYS(!json_write(&out, failed, 0) && out.broken);
    allm_text *t = allm_json_write(failed, 0);
    const allm_error *e = allm_text_error(t);
    CHECK(e && e->kind == ALLM_ERR_MISUSE);
    CHECK_ALWAYS(!allm_text_bytes(t, NULL));
    allm_text_free(t);
    allm_json_free(failed);
    arena_release(&a);
}

static void long_texts(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct buf text, out;
    buf_init(&text, &a, SIZE_MAX);
    for (int i = 0; i < 20000; i++)
        buf_text(&text, i % 7 ? "some words " : "a line\n");
    struct build b;
    build_init(&b, &a);
    build_text(&b, buf_slice(&text));
    const allm_json *v = build_done(&b);
    buf_init(&out, &a, SIZE_MAX);
    json_write(&out, v, 0);
    allm_json *again = allm_json_parse(out.ptr, out.len, NULL);
    CHECK(allm_json_equal(v, again));
    allm_json_free(again);
    arena_release(&a);
}

TESTS = {
    TEST(writes_compact_and_pretty),
    TEST(escapes_what_must_be),
    TEST(appends),
    TEST(keeps_the_limit_of_the_buffer),
    TEST(refuses_what_is_no_value),
    TEST(long_texts),
    TESTS_END
};
