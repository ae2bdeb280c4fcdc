/* test_partial.c - the value of a document that is cut off anywhere */
#include "base/buf.h"
#include "harness/check.h"
#include "unit/json/random_value.h"
#include "json/json.h"
#include "json/parse.h"
#include "json/write.h"

static void makes_sense_of_beginnings(void)
{
    static const struct {
        const char *why, *text, *want;  /* NULL: nothing there yet */
        bool complete;
    } rows[] = {
        { "nothing", "", NULL, false },
        { "white space", " \n\t", NULL, false },
        { "an open array", "[", "[]", false },
        { "an open object", "{", "{}", false },
        { "a whole document", "{\"a\":1}", "{\"a\":1}", true },
        { "white space behind it", "[] \n", "[]", true },
        { "half a key", "{\"ci", "{}", false },
        { "a key", "{\"city\"", "{}", false },
        { "a key and a colon", "{\"city\":", "{}", false },
        { "half a text", "{\"city\":\"Ul", "{\"city\":\"Ul\"}", false },
        { "an empty open text", "{\"city\":\"", "{\"city\":\"\"}", false },
        { "a text", "{\"city\":\"Ulm\"", "{\"city\":\"Ulm\"}", false },
        { "a comma", "{\"city\":\"Ulm\",", "{\"city\":\"Ulm\"}", false },
        { "the next key", "{\"city\":\"Ulm\",\"d", "{\"city\":\"Ulm\"}",
          false },
        { "a number may go on", "[1,2", "[1]", false },
        { "white space ends it", "[1,2 ", "[1,2]", false },
        { "a comma ends it", "[1,2,", "[1,2]", false },
        { "a sign", "[1,-", "[1]", false },
        { "half a fraction", "[1,2.", "[1]", false },
        { "half an exponent", "[1,2e", "[1]", false },
        { "half an exponent, signed", "[1,2e+", "[1]", false },
        { "a lone number is whole", "12", "12", true },
        { "a lone sign is nothing", "-", NULL, false },
        { "a lone half number is nothing", "1e", NULL, false },
        { "half a literal", "[true,fal", "[true]", false },
        { "a whole literal", "[true,false", "[true,false]", false },
        { "a lone half literal", "nul", NULL, false },
        { "a lone literal", "null", "null", true },
        { "a lone half text", "\"ab", "\"ab\"", false },
        { "a lone quote", "\"", "\"\"", false },
        { "half an escape", "\"ab\\", "\"ab\"", false },
        { "an escape", "\"ab\\n", "\"ab\\n\"", false },
        { "an escaped quote", "\"ab\\\"", "\"ab\\\"\"", false },
        { "half a code", "\"ab\\u00", "\"ab\"", false },
        { "a code", "\"ab\\u0041", "\"abA\"", false },
        { "half a pair", "\"ab\\uD83D", "\"ab\"", false },
        { "half a pair and a backslash", "\"ab\\uD83D\\", "\"ab\"", false },
        { "three quarters of a pair", "\"ab\\uD83D\\uDE", "\"ab\"", false },
        { "a pair", "\"ab\\uD83D\\uDE00", "\"ab\xF0\x9F\x98\x80\"", false },
        { "half of two bytes", "\"ab\xC3", "\"ab\"", false },
        { "two of three bytes", "\"ab\xE6\xBC", "\"ab\"", false },
        { "three of four bytes", "\"ab\xF0\x9F\x98", "\"ab\"", false },
        { "all four", "\"ab\xF0\x9F\x98\x80", "\"ab\xF0\x9F\x98\x80\"",
          false },
        { "nested", "{\"a\":[{\"b\":[1,{\"c\":\"x", "{\"a\":[{\"b\":[1,"
          "{\"c\":\"x\"}]}]}", false },
        { "nested and closed in part", "{\"a\":[{\"b\":[1]}", "{\"a\":["
          "{\"b\":[1]}]}", false },
        { "a container as value", "{\"a\":{", "{\"a\":{}}", false },
        { "numbers without loss", "[1e400,0.12345678901234567890,",
          "[1e400,0.12345678901234567890]", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        bool complete = !rows[i].complete;
        allm_json *v = allm_json_partial(rows[i].text, ALLM_NUL_ENDED,
                                         &complete);
        CHECK(!allm_json_error(v));
        CHECK(complete == rows[i].complete);
        CHECK((allm_json_type_of(v) == ALLM_JSON_NONE) == !rows[i].want);
        allm_text *t = rows[i].want ? allm_json_write(v, 0) : NULL;
        CHECK_TEXT(allm_text_bytes(t, NULL), rows[i].want);
        allm_text_free(t);
        allm_json_free(v);
    }
}

static void refuses_what_cannot_become_json(void)
{
    static const struct {
        const char *why;
        struct slice text;
        const char *word, *detail;
        size_t offset;
        const char *path;
    } rows[] = {
        { "no value", { "x", 1 }, "malformed", "unexpected_character", 0, "" },
        { "a bracket first", { "]", 1 }, "malformed", "unexpected_character",
          0, "" },
        { "the wrong bracket", { "[1}", 3 }, "malformed",
          "unexpected_character", 2, "/0" },
        { "the wrong brace", { "{\"a\":1]", 7 }, "malformed",
          "unexpected_character", 6, "/a" },
        { "no colon", { "{\"a\" 1", 6 }, "malformed", "unexpected_character",
          5, "/a" },
        { "no key", { "{1", 2 }, "malformed", "unexpected_character", 1, "" },
        { "no key behind a comma", { "{\"a\":1,}", 8 }, "malformed",
          "unexpected_character", 7, "" },
        { "no value behind a comma", { "[1,]", 4 }, "malformed",
          "unexpected_character", 3, "/1" },
        { "no comma", { "[1 2", 4 }, "malformed", "unexpected_character", 3,
          "/0" },
        { "more behind the end", { "{}x", 3 }, "malformed",
          "trailing_content", 2, "" },
        { "more behind a lone number", { "1 2", 3 }, "malformed",
          "trailing_content", 2, "" },
        { "a wrong literal", { "[trux", 5 }, "malformed", "invalid_literal",
          4, "/0" },
        { "a literal that goes on", { "[truee", 6 }, "malformed",
          "unexpected_character", 5, "/0" },
        { "a leading zero", { "[01", 3 }, "malformed", "invalid_number", 2,
          "/0" },
        { "a letter in a number", { "[1a", 3 }, "malformed",
          "unexpected_character", 2, "/0" },
        { "a letter for a digit", { "[-a", 3 }, "malformed", "invalid_number",
          2, "/0" },
        { "no digit in a fraction", { "[1.,", 4 }, "malformed",
          "invalid_number", 3, "/0" },
        { "no digit in an exponent", { "[1e+]", 5 }, "malformed",
          "invalid_number", 4, "/0" },
        { "a wrong escape", { "[\"\\x", 4 }, "malformed", "invalid_text", 3,
          "/0" },
        { "a wrong escape in a key", { "{\"\\x", 4 }, "malformed",
          "invalid_text", 3, "" },
        { "no hexadecimal digit", { "[\"\\u00g", 7 }, "malformed",
          "invalid_text", 6, "/0" },
        { "a lone low surrogate", { "[\"\\uDC00", 8 }, "malformed",
          "invalid_text", 4, "/0" },
        { "a high surrogate and a letter", { "[\"\\uD83Dx", 9 }, "malformed",
          "invalid_text", 8, "/0" },
        { "a high surrogate and its end", { "[\"\\uD83D\"", 9 }, "malformed",
          "invalid_text", 8, "/0" },
        { "two high surrogates", { "[\"\\uD83D\\uD83D", 14 }, "malformed",
          "invalid_text", 10, "/0" },
        { "another escape for the low one", { "[\"\\uD83D\\n", 10 },
          "malformed", "invalid_text", 9, "/0" },
        { "a line end in a text", { "[\"a\n", 4 }, "malformed",
          "invalid_text", 3, "/0" },
        { "NUL in a text", { "[\"a\0", 4 }, "malformed", "invalid_text", 3,
          "/0" },
        { "NUL behind a backslash", { "[\"\\\0", 4 }, "malformed",
          "invalid_text", 3, "/0" },
        { "NUL outside", { "[\0", 2 }, "malformed", "unexpected_character", 1,
          "/0" },
        { "bad UTF-8", { "[\"\xFF", 3 }, "malformed", "invalid_utf8", 2,
          "/0" },
        { "a surrogate in UTF-8", { "[\"\xED\xA0", 4 }, "malformed",
          "invalid_utf8", 2, "/0" },
        { "UTF-8 cut by a quote", { "[\"\xE6\"", 4 }, "malformed",
          "invalid_utf8", 2, "/0" },
        { "bad UTF-8 in half a key", { "{\"\xC3\xC3", 4 }, "malformed",
          "invalid_utf8", 2, "" },
        { "bad UTF-8 outside", { "[\xC3", 2 }, "malformed", "invalid_utf8", 1,
          "/0" },
        { "a byte order mark", { "\xEF\xBB\xBF[", 4 }, "malformed",
          "byte_order_mark", 0, "" },
        { "equal keys", { "{\"a\":1,\"a\":2,", 13 }, "duplicate_key", "key",
          7, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        bool complete = true;
        allm_json *v = allm_json_partial(rows[i].text.ptr, rows[i].text.len,
                                         &complete);
        const allm_error *e = allm_json_error(v);
        CHECK_ALWAYS(!complete && e);
        CHECK_ALWAYS(allm_json_type_of(v) == ALLM_JSON_NONE);
        if (e && check_whole()) {
            const allm_json *meta = e->metadata;
            CHECK_INT(e->kind, ALLM_ERR_VALIDATION);
            CHECK(json_is(allm_json_at(allm_json_at(e->errors, 0), 1),
                          rows[i].word));
            CHECK_INT(allm_json_number(allm_json_get(meta, "offset")),
                      rows[i].offset);
            CHECK_TEXT(allm_json_text(allm_json_get(meta, "detail"), NULL),
                       rows[i].detail);
            CHECK_TEXT(allm_json_text(allm_json_get(meta, "path"), NULL),
                       rows[i].path);
        }
        allm_json_free(v);
    }
}

/* ------------------------------------------------------------ every cut --- */

static bool is_prefix_text(const allm_json *part, const allm_json *whole)
{
    size_t a, b;
    const char *p = allm_json_text(part, &a), *w = allm_json_text(whole, &b);
    return a <= b && !memcmp(p, w, a);
}

/* Is `part` a beginning of `whole`?  The last member of each container may be
 * one, all before it must be equal. */
static bool is_beginning(const allm_json *part, const allm_json *whole)
{
    for (;;) {
        allm_json_type type = allm_json_type_of(part);
        if (type != allm_json_type_of(whole))
            return false;
        if (type == ALLM_JSON_TEXT)
            return is_prefix_text(part, whole);
        if (type != ALLM_JSON_ARRAY && type != ALLM_JSON_OBJECT)
            return allm_json_equal(part, whole);

        const allm_json *p = NULL, *w = NULL, *last_p = NULL, *last_w = NULL;
        while ((p = allm_json_next(part, p)) != NULL) {
            w = allm_json_next(whole, w);
            if (!w || (last_p && !allm_json_equal(last_p, last_w)))
                return false;
            bool object = type == ALLM_JSON_OBJECT;
            if (object && !allm_json_equal(p, w))
                return false;
            last_p = object ? allm_json_value(p) : p;
            last_w = object ? allm_json_value(w) : w;
        }
        if (!last_p)
            return true;
        part = last_p;
        whole = last_w;
    }
}

/* Is this text a document by itself? */
static bool is_document(struct arena *a, struct slice text)
{
    struct json_limits limits;
    const allm_error *error;
    json_limits_from(&limits, NULL);
    return json_parse(a, text, limits, &error) != NULL;
}

static void check_cuts(struct slice text, const allm_json *whole)
{
    size_t seen = 0;            /* how much there was at the cut before */
    for (size_t cut = 0; cut <= text.len; cut++) {
        struct arena a;
        struct json_limits limits;
        const allm_error *error = NULL;
        bool complete = false;
        arena_init(&a, mem_default());
        json_limits_from(&limits, NULL);
        char *piece = arena_copy(&a, (struct slice){ text.ptr, cut });
        const allm_json *v = piece ? json_partial(&a,
                                                  (struct slice){ piece, cut },
                                                  limits, &complete, &error)
                                   : NULL;
        CHECK(!error);
        CHECK(complete == is_document(&a, (struct slice){ text.ptr, cut }));
        CHECK(!v || is_beginning(v, whole));
        CHECK(cut < text.len || (complete && allm_json_equal(v, whole)));
        size_t now = json_size(v);
        CHECK(now >= seen);     /* nothing is taken back */
        seen = now;
        arena_release(&a);
    }
}

static void check_document(const char *text)
{
    allm_json *whole = allm_json_parse(text, ALLM_NUL_ENDED, NULL);
    CHECK(!allm_json_error(whole));
    check_cuts(slice_of(text), whole);
    allm_json_free(whole);
}

static void every_cut_of_one(void)
{
    check_document("{\"c\\u00e9\":[1,-2.5e3,\"a\\uD83D\\uDE00\\n\"],"
                   "\"x\":{\"y\":null}}");
}

static void every_cut_of_many(void)
{
    static const char *const documents[] = {
        "{}", "[]", " [ ] ", "null", "\"\"", "\"a\\\"b\\\\\"", "true",
        "{\"location\": \"Ulm, M\xC3\xBCnster\", \"days\": 3, \"units\": "
        "\"celsius\"}",
        "{\"a\":{\"b\":{\"c\":[[[]],{}]}},\"d\":[true,false,null]}",
        "[0,-0,1.5,-1.5e-10,1E+5,123456789012345678901234567890]",
        "{\"path\":\"C:\\\\x\\\\y\",\"re\":\"^\\\\d+$\",\"nl\":\"a\\r\\nb\"}",
        "[\"\\uD83D\\uDE00\\uD83D\\uDE00\",\"\xF0\x9F\x98\x80\","
        "\"\xE6\xBC\xA2\"]",
        "\n{ \"a\" : [ 1 , 2 ] , \"b\" : \"c\" }\n",
        "{\"edits\":[{\"old\":\"if (x) {\\n\",\"new\":\"while (x) {\\n\"},"
        "{\"old\":\"\",\"new\":\"}\"}]}",
    };
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        check_row(documents[i]);
        check_document(documents[i]);
    }
}

static void every_cut_of_random_ones(void)
{
    struct random r = check_random();
    for (int i = 0; i < 60; i++) {
        struct arena a;
        struct buf text;
        arena_init(&a, mem_default());
        buf_init(&text, &a, SIZE_MAX);
        const allm_json *v = random_value(&a, r, 1 + random_below(r, 40));
        json_write(&text, v, i & 1 ? ALLM_JSON_PRETTY : 0);
        check_cuts(buf_slice(&text), v);
        arena_release(&a);
    }
}

/* --------------------------------------------------------------- limits --- */

static void depth_is_limited(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct buf text;
    buf_init(&text, &a, SIZE_MAX);
    for (int i = 0; i < 128; i++)
        buf_text(&text, "[");
    allm_json *v = allm_json_partial(text.ptr, text.len, NULL);
    CHECK(!allm_json_error(v));
    allm_json_free(v);
    for (int i = 128; i < 100000; i++)
        buf_text(&text, i & 1 ? "[" : "{\"a\":");
    v = allm_json_partial(text.ptr, text.len, NULL);
    const allm_error *e = allm_json_error(v);
    const allm_json *pair = e ? allm_json_at(e->errors, 0) : NULL;
    CHECK_TEXT(allm_json_text(allm_json_at(pair, 1), NULL), "too_deep");
    CHECK(!e || !check_whole() ||
          allm_json_number(allm_json_get(e->metadata, "offset")) == 128);
    allm_json_free(v);
    arena_release(&a);
}

static void size_is_limited(void)
{
    struct arena a;
    struct json_limits limits;
    const allm_error *e = NULL;
    bool complete = true;
    arena_init(&a, mem_default());
    json_limits_from(&limits, NULL);
    limits.max_bytes = 3;
    CHECK(!json_partial(&a, SLICE("[1,2"), limits, &complete, &e));
    CHECK(e &&
          json_is(allm_json_at(allm_json_at(e->errors, 0), 1), "too_large"));
    arena_release(&a);
}

static void null_is_misuse(void)
{
    bool complete = true;
    allm_json *v = allm_json_partial(NULL, ALLM_NUL_ENDED, &complete);
    const allm_error *e = allm_json_error(v);
    CHECK_ALWAYS(!complete);
    CHECK(e && e->kind == ALLM_ERR_MISUSE);
    allm_json_free(v);
}

TESTS = {
    TEST(makes_sense_of_beginnings),
    TEST(refuses_what_cannot_become_json),
    TEST(every_cut_of_one),
    TEST_ONCE(every_cut_of_many),
    TEST_ONCE(every_cut_of_random_ones),
    TEST(depth_is_limited),
    TEST(size_is_limited),
    TEST(null_is_misuse),
    TESTS_END
};
