/* test_where.c - line, column and path of a position in a text */
#include "json/where.h"

#include "base/buf.h"
#include "base/status.h"
#include "harness/check.h"
#include "json/json.h"

/* The place is marked by ^ in the text, which is taken out. */
static void finds_the_mark(void)
{
    static const struct {
        const char *why, *text;
        size_t line, column;
        const char *path;
    } rows[] = {
        { "the start", "^{}", 1, 1, "" },
        { "behind a scalar", "12^", 1, 3, "" },
        { "in an empty array", "[^]", 1, 2, "/0" },
        { "the second element", "[1,^2]", 1, 4, "/1" },
        { "behind the second", "[1,2^]", 1, 5, "/1" },
        { "in an empty object", "{^}", 1, 2, "" },
        { "in a key", "{\"ab^c\":1}", 1, 5, "" },
        { "at the end of a key", "{\"abc^\":1}", 1, 6, "" },
        { "behind a key", "{\"abc\"^:1}", 1, 7, "/abc" },
        { "at a value", "{\"abc\":^1}", 1, 8, "/abc" },
        { "in a value", "{\"abc\":\"x^y\"}", 1, 10, "/abc" },
        { "behind a comma", "{\"a\":1,^\"b\":2}", 1, 8, "" },
        { "in the second key", "{\"a\":1,\"b^\":2}", 1, 10, "" },
        { "nested", "{\"a\":[0,{\"b\":^1}]}", 1, 14, "/a/1/b" },
        { "behind nested", "{\"a\":[0,{\"b\":1}]^}", 1, 17, "/a" },
        { "escapes in a key", "{\"\\\"\\\\[\":^1}", 1, 10, "/\"\\[" },
        { "a quote in a text", "[\"\\\",[\",^1]", 1, 9, "/1" },
        { "~ and / in a key", "{\"~/\":^1}", 1, 7, "/~0~1" },
        { "an empty key", "{\"\":[^1]}", 1, 6, "//0" },
        { "line ends", "[1,\n\n ^2]", 3, 2, "/1" },
        { "CRLF", "[1,\r\n^2]", 2, 1, "/1" },
        { "characters, not bytes", "[\"\xE6\xBC\xA2\xC3\xA9\",^1]", 1, 7,
          "/1" },
        { "brackets that close too much", "[1]]]^", 1, 6, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct arena a;
        struct buf text;
        struct where at;
        arena_init(&a, mem_default());
        const char *mark = strchr(rows[i].text, '^');
        size_t offset = (size_t)(mark - rows[i].text);
        buf_init(&text, &a, 4096);
        buf_add(&text, (struct slice){ rows[i].text, offset });
        buf_text(&text, mark + 1);
        if (where_find(&a, buf_slice(&text), offset, &at)) {
            CHECK_INT(at.line, rows[i].line);
            CHECK_INT(at.column, rows[i].column);
            CHECK_SLICE(at.path, slice_of(rows[i].path));
        } else {
            CHECK(false);
        }
        arena_release(&a);
    }
}

static struct slice repeat(struct arena *a, const char *piece, size_t n)
{
    struct buf out;
    buf_init(&out, a, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        buf_text(&out, piece);
    return buf_slice(&out);
}

static void long_ways_are_cut(void)
{
    struct arena a;
    struct where at = { 0 };
    arena_init(&a, mem_default());
    struct slice text = repeat(&a, "[", 100000);
    if (where_find(&a, text, text.len, &at))
        CHECK_SLICE(at.path, repeat(&a, "/0", 128));
    CHECK_INT(at.column, 100001);

    struct buf keys;
    buf_init(&keys, &a, SIZE_MAX);
    for (int i = 0; i < 3; i++) {
        buf_text(&keys, "{\"");
        buf_add(&keys, repeat(&a, "long key ", 3000));
        buf_text(&keys, "\":");
    }
    if (where_find(&a, buf_slice(&keys), keys.len, &at)) {
        CHECK_INT(at.path.len, 2 * (1 + 9 * 3000));
        CHECK_INT(at.path.ptr[at.path.len], 0);
    }
    struct fault fault = { .word = "malformed", .detail = "x", .what = "wrong",
                           .advice = "mend it", .offset = keys.len };
    const allm_error *e = where_error(&a, buf_slice(&keys), &fault);
    CHECK(strlen(e->message) < 400);
    fault.name = repeat(&a, "\xE6\xBC\xA2", 100);
    e = where_error(&a, buf_slice(&keys), &fault);
    CHECK(strlen(e->message) < 600);
    arena_release(&a);
}

static void says_what_was_found(void)
{
    static const struct {
        struct slice text;
        const char *says;
    } rows[] = {
        { { "", 0 }, "found the end of the text" },
        { { "x", 1 }, "found 'x'" },
        { { " ", 1 }, "found U+0020" },
        { { "\0", 1 }, "found U+0000" },
        { { "\xC3\xA9", 2 }, "found U+00E9" },
        { { "\xFF", 1 }, "found byte 0xFF" },
        { { "\x7F", 1 }, "found U+007F" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        arena_init(&a, mem_default());
        struct fault fault = { .word = "malformed", .detail = "x",
                               .what = "expected a", .advice = "b",
                               .expected = true };
        const allm_error *e = where_error(&a, rows[i].text, &fault);
        CHECK_WHY(strstr(e->message, rows[i].says) != NULL, e->message);
        CHECK(e->errors && e->metadata);
        CHECK(json_is(allm_json_get(e->metadata, "detail"), "x"));
        arena_release(&a);
    }
}

TESTS = {
    TEST(finds_the_mark),
    TEST(long_ways_are_cut),
    TEST(says_what_was_found),
    TESTS_END
};
