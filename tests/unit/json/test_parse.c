/* test_parse.c - valid JSON, invalid JSON, and its error messages */
#include "json/parse.h"

#include "base/buf.h"
#include "harness/check.h"
#include "json/json.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

#define T(literal) { literal, sizeof(literal) - 1 }

static struct json_limits limits(void)
{
    struct json_limits l;
    json_limits_from(&l, NULL);
    return l;
}

/* ------------------------------------------------------------- accepted --- */

static void accepts_json(void)
{
    static const struct {
        const char *why;
        struct slice text;
        const char *written;    /* NULL: as it came */
    } rows[] = {
        { "null", T("null"), NULL },
        { "true", T("true"), NULL },
        { "false", T("false"), NULL },
        { "zero", T("0"), NULL },
        { "an integer", T("-17"), NULL },
        { "the largest int64", T("9223372036854775807"), NULL },
        { "the smallest int64", T("-9223372036854775808"), NULL },
        { "the largest uint64", T("18446744073709551615"), NULL },
        { "one more keeps its text", T("18446744073709551616"), NULL },
        { "below int64 keeps its text", T("-9223372036854775809"), NULL },
        { "30 digits", T("123456789012345678901234567890"), NULL },
        { "a fraction", T("2.5"), NULL },
        { "an exponent", T("1e3"), "1000.0" },
        { "a capital E", T("1E+3"), "1000.0" },
        { "a negative exponent", T("1e-3"), "0.001" },
        { "17 digits", T("0.30000000000000004"), NULL },
        { "more digits than a double", T("0.1234567890123456789"), NULL },
        { "pi as we learned it", T("3.14159265358979323846"), NULL },
        { "digits that are only zeros", T("1.000000000000000000000"),
          "1.0" },
        { "beyond the largest double", T("1e400"), NULL },
        { "and below the least", T("-1e400"), NULL },
        { "too small for a double", T("1e-400"), NULL },
        { "minus zero keeps its sign", T("-0"), "-0.0" },
        { "minus zero with a point", T("-0.0"), NULL },
        { "zero with an exponent", T("0e10"), "0.0" },
        { "an empty text", T("\"\""), NULL },
        { "a text", T("\"Ulm\""), NULL },
        { "all short escapes", T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
          "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
        { "an escaped letter", T("\"\\u0041\""), "\"A\"" },
        { "NUL, escaped", T("\"a\\u0000b\""), NULL },
        { "a surrogate pair", T("\"\\uD83D\\uDE00\""),
          "\"\xF0\x9F\x98\x80\"" },
        { "hex digits of both cases", T("\"\\u00e9\\u00E9\""),
          "\"\xC3\xA9\xC3\xA9\"" },
        { "UTF-8 of two bytes", T("\"\xC3\xA9\""), NULL },
        { "UTF-8 of three bytes", T("\"\xE6\xBC\xA2\""), NULL },
        { "UTF-8 of four bytes", T("\"\xF0\x9F\x98\x80\""), NULL },
        { "DEL needs no escape", T("\"\x7F\""), NULL },
        { "a noncharacter", T("\"\xEF\xBF\xBF\""), NULL },
        { "U+2028 as it is", T("\"\xE2\x80\xA8\""), NULL },
        { "an empty array", T("[]"), NULL },
        { "an empty object", T("{}"), NULL },
        { "white space everywhere",
          T(" \t\r\n[ 1 , { \"a\" : 2 } ] \n"), "[1,{\"a\":2}]" },
        { "nested", T("[[[[]]],{\"a\":{\"b\":[{}]}}]"), NULL },
        { "order is kept", T("{\"b\":1,\"a\":2,\"c\":0}"), NULL },
        { "an empty key", T("{\"\":1}"), NULL },
        { "a key with NUL", T("{\"a\\u0000b\":1,\"a\":2}"), NULL },
        { "equal keys in different objects",
          T("[{\"a\":1},{\"a\":{\"a\":2}}]"), NULL },
        { "long digits in a text", T("\"12345678901234567890.123456\""),
          NULL },
        { "indented", T("{\n    \"a\": [\n        1\n    ]\n}"),
          "{\"a\":[1]}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct arena a;
        struct buf out;
        const allm_error *error = NULL;
        arena_init(&a, mem_default());
        buf_init(&out, &a, SIZE_MAX);
        const allm_json *v = json_parse(&a, rows[i].text, limits(), &error);
        CHECK(v != NULL && !error);
        json_write(&out, v, 0);
        CHECK_SLICE(buf_slice(&out),
                    rows[i].written ? slice_of(rows[i].written) : rows[i].text);
        arena_release(&a);
    }
}

/* -------------------------------------------------------------- refused --- */

struct refusal {
    const char *why;
    struct slice text;
    const char *word, *detail;
    size_t offset, line, column;
    const char *path;
};

static void check_refusal(const struct refusal *r, const allm_error *e)
{
    CHECK(e != NULL);
    if (!e || !check_whole())
        return;
    CHECK_INT(e->kind, ALLM_ERR_VALIDATION);
    CHECK_TEXT(e->reason, "invalid_request");
    CHECK(e->message && *e->message);
    const allm_json *pair = allm_json_at(e->errors, 0);
    CHECK_INT(allm_json_count(e->errors), 1);
    CHECK(json_is(allm_json_at(pair, 0), "json"));
    CHECK_TEXT(allm_json_text(allm_json_at(pair, 1), NULL), r->word);
    CHECK_TEXT(allm_json_text(allm_json_get(e->metadata, "detail"), NULL),
               r->detail);
    CHECK_TEXT(allm_json_text(allm_json_get(e->metadata, "path"), NULL),
               r->path);
    CHECK_INT(allm_json_number(allm_json_get(e->metadata, "offset")),
              r->offset);
    CHECK_INT(allm_json_number(allm_json_get(e->metadata, "line")), r->line);
    CHECK_INT(allm_json_number(allm_json_get(e->metadata, "column")),
              r->column);
}

static void refuses_rows(const struct refusal *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        check_row(rows[i].why);
        struct arena a;
        const allm_error *error = NULL;
        arena_init(&a, mem_default());
        const allm_json *v = json_parse(&a, rows[i].text, limits(), &error);
        CHECK_ALWAYS(!v);
        CHECK_ALWAYS(error != NULL);
        check_refusal(&rows[i], error);
        arena_release(&a);
    }
}

static void refuses_structure(void)
{
    static const struct refusal rows[] = {
        { "nothing", T(""), "malformed", "empty", 0, 1, 1, "" },
        { "white space", T(" \n "), "malformed", "empty", 3, 2, 2, "" },
        { "a lone bracket", T("["), "malformed", "truncated", 1, 1, 2,
          "/0" },
        { "a lone brace", T("{"), "malformed", "truncated", 1, 1, 2, "" },
        { "cut behind a comma", T("[1,"), "malformed", "truncated", 3, 1,
          4, "/1" },
        { "cut in a key", T("{\"ab"), "malformed", "truncated", 4, 1, 5,
          "" },
        { "cut behind a key", T("{\"a\""), "malformed", "truncated", 4, 1,
          5, "/a" },
        { "cut behind a colon", T("{\"a\":"), "malformed", "truncated", 5,
          1, 6, "/a" },
        { "cut in a text", T("[\"abc"), "malformed", "truncated", 5, 1, 6,
          "/0" },
        { "cut in a literal", T("[tru"), "malformed", "truncated", 4, 1, 5,
          "/0" },
        { "cut in an escape", T("\"\\u00"), "malformed", "truncated", 5, 1,
          6, "" },
        { "a comma too many in an array", T("[1,]"), "malformed",
          "unexpected_character", 3, 1, 4, "/1" },
        { "a comma too many in an object", T("{\"a\":1,}"), "malformed",
          "unexpected_character", 7, 1, 8, "" },
        { "a comma first", T("[,1]"), "malformed", "unexpected_character",
          1, 1, 2, "/0" },
        { "two commas", T("[1,,2]"), "malformed", "unexpected_character",
          3, 1, 4, "/1" },
        { "no comma", T("[1 2]"), "malformed", "unexpected_character", 3,
          1, 4, "/0" },
        { "no colon", T("{\"a\" 1}"), "malformed", "unexpected_character",
          5, 1, 6, "/a" },
        { "a colon in an array", T("[1:2]"), "malformed",
          "unexpected_character", 2, 1, 3, "/0" },
        { "two colons", T("{\"a\"::1}"), "malformed",
          "unexpected_character", 5, 1, 6, "/a" },
        { "a key without value", T("{\"a\"}"), "malformed",
          "unexpected_character", 4, 1, 5, "/a" },
        { "a key that is a number", T("{1:2}"), "malformed",
          "unexpected_character", 1, 1, 2, "" },
        { "a key without quotes", T("{a:1}"), "malformed",
          "unexpected_character", 1, 1, 2, "" },
        { "the wrong bracket", T("[1}"), "malformed",
          "unexpected_character", 2, 1, 3, "/0" },
        { "the wrong brace", T("{\"a\":1]"), "malformed",
          "unexpected_character", 6, 1, 7, "/a" },
        { "a bracket too many", T("[1]]"), "malformed",
          "trailing_content", 3, 1, 4, "" },
        { "two documents", T("{} {}"), "malformed", "trailing_content", 3,
          1, 4, "" },
        { "a bracket alone", T("]"), "malformed", "unexpected_character",
          0, 1, 1, "" },
        { "a comment", T("[1, // one\n2]"), "malformed",
          "unexpected_character", 4, 1, 5, "/1" },
        { "a line comment at the end", T("1 # one"), "malformed",
          "trailing_content", 2, 1, 3, "" },
        { "deep inside, on line 3",
          T("{\"a\": [1,\n  {\"b~/\": {\n    \"c\": oops}}]}"),
          "malformed", "unexpected_character", 31, 3, 10, "/a/1/b~0~1/c" },
        { "a path with escapes", T("{\"\\u00e9\\n\":[0,x]}"), "malformed",
          "unexpected_character", 15, 1, 16, "/\xC3\xA9\n/1" },
        { "columns are characters", T("[\"\xC3\xA9\xE6\xBC\xA2\" x]"),
          "malformed", "unexpected_character", 9, 1, 7, "/0" },
        { "behind members that are whole",
          T("{\"a\":{\"x\":[1,2]},\"b\":[[],{}],\"c\":?}"), "malformed",
          "unexpected_character", 33, 1, 34, "/c" },
        { "brackets in a text are no brackets",
          T("{\"[{,\\\"\":[\"]},\",!]}"), "malformed",
          "unexpected_character", 16, 1, 17, "/[{,\"/1" },
    };
    refuses_rows(rows, sizeof rows / sizeof *rows);
}

static void refuses_scalars(void)
{
    static const struct refusal rows[] = {
        { "a wrong word", T("nope"), "malformed", "invalid_literal", 1, 1,
          2, "" },
        { "True", T("[True]"), "malformed", "unexpected_character", 1, 1,
          2, "/0" },
        { "NaN", T("[NaN]"), "malformed", "unexpected_character", 1, 1, 2,
          "/0" },
        { "Infinity", T("[-Infinity]"), "malformed", "invalid_number", 2,
          1, 3, "/0" },
        { "a plus sign", T("[+1]"), "malformed", "unexpected_character", 1,
          1, 2, "/0" },
        { "a leading zero", T("[01]"), "malformed", "invalid_number", 2, 1,
          3, "/0" },
        { "no digit before the point", T("[.5]"), "malformed",
          "unexpected_character", 1, 1, 2, "/0" },
        { "no digit behind the point", T("[1.]"), "malformed",
          "invalid_number", 3, 1, 4, "/0" },
        { "no digit in the exponent", T("[1e]"), "malformed",
          "invalid_number", 3, 1, 4, "/0" },
        { "a sign only", T("[-]"), "malformed", "invalid_number", 2, 1, 3,
          "/0" },
        { "hexadecimal", T("[0x1F]"), "malformed", "unexpected_character",
          2, 1, 3, "/0" },
        { "two points", T("[1.2.3]"), "malformed", "unexpected_character",
          4, 1, 5, "/0" },
        { "single quotes", T("['a']"), "malformed", "unexpected_character",
          1, 1, 2, "/0" },
        { "a line end in a text", T("[\"a\nb\"]"), "malformed",
          "invalid_text", 3, 1, 4, "/0" },
        { "a tab in a text", T("[\"a\tb\"]"), "malformed", "invalid_text",
          3, 1, 4, "/0" },
        { "NUL in a text", T("[\"a\0b\"]"), "malformed", "invalid_text", 3,
          1, 4, "/0" },
        { "NUL outside", T("[1,\0 2]"), "malformed",
          "unexpected_character", 3, 1, 4, "/1" },
        { "NUL behind", T("[1]\0"), "malformed", "trailing_content", 3, 1,
          4, "" },
        { "an unknown escape", T("[\"\\x41\"]"), "malformed",
          "invalid_text", 3, 1, 4, "/0" },
        { "an escape with bad digits", T("[\"\\u00G0\"]"), "malformed",
          "invalid_text", 6, 1, 7, "/0" },
        { "a lone high surrogate", T("[\"\\uD800\"]"), "malformed",
          "invalid_text", 8, 1, 9, "/0" },
        { "a high surrogate and a letter", T("[\"\\uD800a\"]"),
          "malformed", "invalid_text", 8, 1, 9, "/0" },
        { "two high surrogates", T("[\"\\uD800\\uD800\"]"), "malformed",
          "invalid_text", 10, 1, 11, "/0" },
        { "a lone low surrogate", T("[\"\\uDC00\"]"), "malformed",
          "invalid_text", 4, 1, 5, "/0" },
        { "a byte that is never UTF-8", T("[\"a\xFF\"]"), "malformed",
          "invalid_utf8", 3, 1, 4, "/0" },
        { "a tail byte alone", T("[\"\x80\"]"), "malformed",
          "invalid_utf8", 2, 1, 3, "/0" },
        { "an overlong slash", T("[\"\xC0\xAF\"]"), "malformed",
          "invalid_utf8", 2, 1, 3, "/0" },
        { "a surrogate in UTF-8", T("[\"\xED\xA0\x80\"]"), "malformed",
          "invalid_utf8", 2, 1, 3, "/0" },
        { "beyond U+10FFFF", T("[\"\xF4\x90\x80\x80\"]"), "malformed",
          "invalid_utf8", 2, 1, 3, "/0" },
        { "UTF-8 cut by the quote", T("[\"\xE6\xBC\"]"), "malformed",
          "invalid_utf8", 2, 1, 3, "/0" },
        { "bad UTF-8 in a key", T("{\"\xFF\":1}"), "malformed",
          "invalid_utf8", 2, 1, 3, "" },
        { "bad UTF-8 outside", T("[\xFF]"), "malformed", "invalid_utf8", 1,
          1, 2, "/0" },
        { "a byte order mark", T("\xEF\xBB\xBF{}"), "malformed",
          "byte_order_mark", 0, 1, 1, "" },
        { "a no-break space", T("[1,\xC2\xA0 2]"), "malformed",
          "unexpected_character", 3, 1, 4, "/1" },
        { "a form feed", T("[\f1]"), "malformed", "unexpected_character",
          1, 1, 2, "/0" },
    };
    refuses_rows(rows, sizeof rows / sizeof *rows);
}

static void refuses_equal_keys(void)
{
    static const struct refusal rows[] = {
        { "two", T("{\"a\":1,\"a\":2}"), "duplicate_key", "key", 7, 1, 8,
          "" },
        { "two of three", T("{\"a\":1,\"b\":0,\"a\":2}"), "duplicate_key",
          "key", 13, 1, 14, "" },
        { "one written with an escape", T("{\"a\":1,\"\\u0061\":2}"),
          "duplicate_key", "key", 7, 1, 8, "" },
        { "empty keys", T("{\"\":1,\"\":2}"), "duplicate_key", "key", 6, 1,
          7, "" },
        { "deep inside", T("[0,{\"x\":[{\"a\":1,\"a\":2}]}]"),
          "duplicate_key", "key", 16, 1, 17, "/1/x/0" },
        { "with NUL inside", T("{\"a\\u0000\":1,\"a\\u0000\":2}"),
          "duplicate_key", "key", 13, 1, 14, "" },
    };
    refuses_rows(rows, sizeof rows / sizeof *rows);
}

/* --------------------------------------------------------------- limits --- */

static struct slice repeat(struct arena *a, const char *piece, size_t n)
{
    struct buf out;
    buf_init(&out, a, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        buf_text(&out, piece);
    return buf_slice(&out);
}

static struct slice nested(struct arena *a, size_t depth)
{
    struct buf out;
    buf_init(&out, a, SIZE_MAX);
    buf_add(&out, repeat(a, "[", depth));
    buf_add(&out, repeat(a, "]", depth));
    return buf_slice(&out);
}

static const char *word_of(const allm_json *root)
{
    const allm_error *e = allm_json_error(root);
    const allm_json *pair = e ? allm_json_at(e->errors, 0) : NULL;
    return allm_json_text(allm_json_at(pair, 1), NULL);
}

static void keeps_the_depth(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    static const struct {
        const char *why;
        size_t depth;
        uint32_t max;
        const char *word;
    } rows[] = {
        { "as deep as the default allows", 128, 0, NULL },
        { "one deeper", 129, 0, "too_deep" },
        { "a limit of our own", 3, 3, NULL },
        { "one deeper than that", 4, 3, "too_deep" },
        { "a wider limit", 1000, 1000, NULL },
        { "one deeper than the wider", 1001, 1000, "too_deep" },
        { "very deep", 100000, 0, "too_deep" },
        { "very deep, and allowed", 100000, 100000, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct slice text = nested(&a, rows[i].depth);
        allm_json *v = allm_json_parse(
            text.ptr, text.len, ALLM(json_opts, .max_depth = rows[i].max));
        CHECK_TEXT(word_of(v), rows[i].word);
        CHECK((allm_json_type_of(v) == ALLM_JSON_ARRAY) == !rows[i].word);
        allm_json_free(v);
    }
    check_row("a wide document is not deep");
    struct slice wide = repeat(&a, "[[]],", 1000);
    struct buf text;
    buf_init(&text, &a, SIZE_MAX);
    buf_text(&text, "[");
    buf_add(&text, wide);
    buf_text(&text, "1]");
    allm_json *v = allm_json_parse(text.ptr, text.len,
                                   ALLM(json_opts, .max_depth = 3));
    CHECK_TEXT(word_of(v), NULL);
    allm_json_free(v);
    arena_release(&a);
}

static void refuses_unfinished_depth(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct slice text = repeat(&a, "[", 100000);
    allm_json *v = allm_json_parse(text.ptr, text.len, NULL);
    CHECK_TEXT(word_of(v), "too_deep");
    allm_json_free(v);
    v = allm_json_parse(text.ptr, text.len,
                        ALLM(json_opts, .max_depth = 100000));
    CHECK_TEXT(word_of(v), "malformed");
    allm_json_free(v);
    text = repeat(&a, "{\"a\":", 100000);
    v = allm_json_parse(text.ptr, text.len, NULL);
    CHECK_TEXT(word_of(v), "too_deep");
    allm_json_free(v);
    arena_release(&a);
}

static void tells_where_it_is_too_deep(void)
{
    allm_json *v = allm_json_parse("{\"[\":1,\"a\":[{},[2,[3]]]}",
                                   ALLM_NUL_ENDED,
                                   ALLM(json_opts, .max_depth = 3));
    const allm_error *e = allm_json_error(v);
    CHECK_TEXT(word_of(v), "too_deep");
    if (e && check_whole()) {
        CHECK_INT(allm_json_number(allm_json_get(e->metadata, "offset")), 18);
        CHECK_TEXT(allm_json_text(allm_json_get(e->metadata, "path"), NULL),
                   "/a/1/1");
    }
    allm_json_free(v);
}

static void keeps_the_size(void)
{
    static const struct {
        const char *why, *text;
        size_t max;
        const char *word;
    } rows[] = {
        { "as long as allowed", "[1,2]", 5, NULL },
        { "one longer", "[1,2] ", 5, "too_large" },
        { "malformed, but first of all too long", "[1,2]x", 5, "too_large" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *v =
            allm_json_parse(rows[i].text, ALLM_NUL_ENDED,
                            ALLM(json_opts, .max_bytes = rows[i].max));
        CHECK_TEXT(word_of(v), rows[i].word);
        allm_json_free(v);
    }
}

static void keeps_numbers_short(void)
{
    static const struct {
        const char *why, *before, *piece;
        size_t n;
        const char *after, *word;
    } rows[] = {
        { "1,024 digits", "", "7", 1024, "", NULL },
        { "1,025 digits", "", "7", 1025, "", "too_large" },
        { "with a sign", "[-", "7", 1024, "]", "too_large" },
        { "a long fraction", "0.", "0", 1022, "", NULL },
        { "too long a fraction", "0.", "0", 1023, "", "too_large" },
        { "a long exponent", "[1e", "0", 1021, "7]", NULL },
        { "too long an exponent", "[1e", "0", 1022, "7]", "too_large" },
        { "a text may be longer", "\"", "7", 5000, "\"", NULL },
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        struct buf text;
        buf_init(&text, &a, SIZE_MAX);
        buf_text(&text, rows[i].before);
        buf_add(&text, repeat(&a, rows[i].piece, rows[i].n));
        buf_text(&text, rows[i].after);
        allm_json *v = allm_json_parse(text.ptr, text.len, NULL);
        CHECK_TEXT(word_of(v), rows[i].word);
        allm_json_free(v);
    }
    arena_release(&a);
}

/* ----------------------------------------------------------- equal keys --- */

static void first_of_equal_keys_wins(void)
{
    static const struct {
        const char *why, *text, *want;
    } rows[] = {
        { "two", "{\"a\":1,\"a\":2}", "{\"a\":1}" },
        { "three and another", "{\"a\":1,\"b\":2,\"a\":3,\"a\":4}",
          "{\"a\":1,\"b\":2}" },
        { "containers go with their key",
          "{\"a\":[1],\"a\":{\"x\":[2,3]},\"b\":[{\"c\":1}],\"c\":0}",
          "{\"a\":[1],\"b\":[{\"c\":1}],\"c\":0}" },
        { "inside what goes, too", "{\"a\":1,\"a\":{\"b\":1,\"b\":2}}",
          "{\"a\":1}" },
        { "inside what stays", "[{\"q\":{\"a\":1,\"a\":[]}},{\"a\":3}]",
          "[{\"q\":{\"a\":1}},{\"a\":3}]" },
        { "the last one of several levels",
          "{\"a\":{\"b\":{\"c\":1,\"c\":2},\"b\":3},\"a\":4}",
          "{\"a\":{\"b\":{\"c\":1}}}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *v =
            allm_json_parse(rows[i].text, ALLM_NUL_ENDED,
                            ALLM(json_opts, .flags = ALLM_JSON_DUPLICATES));
        CHECK(!allm_json_error(v));
        allm_text *t = allm_json_write(v, 0);
        CHECK_TEXT(allm_text_bytes(t, NULL), rows[i].want);
        allm_text_free(t);
        allm_json_free(v);
    }
}

/* An object of n members whose last key is `last`. */
static struct slice big_object(struct arena *a, size_t n, const char *last)
{
    struct buf out;
    buf_init(&out, a, SIZE_MAX);
    buf_text(&out, "{");
    for (size_t i = 0; i < n; i++)
        buf_format(&out, "\"key %zu\":%zu,", i, i);
    buf_format(&out, "\"%s\":true}", last);
    return buf_slice(&out);
}

static void checks_big_objects(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t n = 30; n < 40; n++) {
        struct slice good = big_object(&a, n, "other");
        struct slice bad = big_object(&a, n, "key 29");
        allm_json *v = allm_json_parse(good.ptr, good.len, NULL);
        allm_json *w = allm_json_parse(bad.ptr, bad.len, NULL);
        allm_json *x = allm_json_parse(
            bad.ptr, bad.len, ALLM(json_opts, .flags = ALLM_JSON_DUPLICATES));
        CHECK_TEXT(word_of(v), NULL);
        CHECK_TEXT(word_of(w), "duplicate_key");
        CHECK_INT(allm_json_count(v), n + 1);
        CHECK_INT(allm_json_count(x), n);
        CHECK_INT(allm_json_number(allm_json_get(x, "key 29")), 29);
        allm_json_free(v);
        allm_json_free(w);
        allm_json_free(x);
    }
    arena_release(&a);
}

/* Quadratic work would take minutes. */
static void a_million_keys(void)
{
    struct arena a;
    arena_init(&a, mem_default());
    struct slice text = big_object(&a, 1000000, "key 999999");
    allm_json *v = allm_json_parse(text.ptr, text.len, NULL);
    CHECK_TEXT(word_of(v), "duplicate_key");
    allm_json_free(v);
    v = allm_json_parse(text.ptr, text.len,
                        ALLM(json_opts, .flags = ALLM_JSON_DUPLICATES));
    CHECK_INT(allm_json_count(v), 1000000);
    allm_json_free(v);
    arena_release(&a);
}

/* ------------------------------------------------------------ the doors --- */

static void refuses_misuse(void)
{
    allm_json_opts no_size = { .max_depth = 3 };
    static const allm_json_opts odd = { .size = sizeof odd, .flags = 1u << 30 };
    allm_json *v[] = {
        allm_json_parse("1", 1, &no_size),
        allm_json_parse("1", 1, &odd),
        allm_json_parse(NULL, ALLM_NUL_ENDED, NULL),
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        const allm_error *e = allm_json_error(v[i]);
        CHECK(e && e->kind == ALLM_ERR_MISUSE && *e->message);
        CHECK_INT(allm_json_type_of(v[i]), ALLM_JSON_NONE);
        allm_json_free(v[i]);
    }
}

/* A buffer that is empty has no NUL to look for. */
static void nothing_is_read_of_nothing(void)
{
    char full[1] = { '7' };
    allm_json *v = allm_json_parse(full, 0, NULL);
    CHECK_TEXT(word_of(v), "malformed");
    allm_json_free(v);
}

static void takes_a_length_or_not(void)
{
    static const struct {
        const char *why;
        size_t len;
        double want;
    } rows[] = {
        { "up to the NUL", ALLM_NUL_ENDED, 123 },
        { "two bytes", 2, 12 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        allm_json *v = allm_json_parse("123", rows[i].len, NULL);
        CHECK_INT(allm_json_number(v), rows[i].want);
        allm_json_free(v);
    }
}

static void *count_in(void *ud, void *p, size_t old, size_t size)
{
    size_t *live = ud;
    struct mem m = mem_default();
    void *q = m.fn(m.ud, p, old, size);
    if (!p && q)
        *live += 1;
    if (p && size == 0)
        *live -= 1;
    return q;
}

static void uses_the_allocator_given(void)
{
    size_t live = 0;
    const allm_allocator own = { sizeof own, count_in, &live };
    allm_json *v = allm_json_parse("{\"a\":[1,2,3]}", ALLM_NUL_ENDED,
                                   ALLM(json_opts, .allocator = &own));
    CHECK(live > 0);
    CHECK_INT(allm_json_count(allm_json_get(v, "a")), 3);
    allm_json_free(v);
    CHECK_ALWAYS(live == 0);
}

static void a_small_document_is_one_allocation(void)
{
    size_t before = check_allocations();
    allm_json *v = allm_json_parse("{\"id\":\"chatcmpl-1\",\"choices\":[{"
                                   "\"delta\":{\"content\":\"Hi\"}}]}",
                                   ALLM_NUL_ENDED, NULL);
    CHECK_INT(check_allocations() - before, 1);
    allm_json_free(v);
}

static void older_options_are_understood(void)
{
    allm_json_opts opts = { .size = offsetof(allm_json_opts, flags),
                            .max_depth = 1, .flags = ~0u };
    allm_json *v = allm_json_parse("[[]]", ALLM_NUL_ENDED, &opts);
    CHECK_TEXT(word_of(v), "too_deep");
    allm_json_free(v);
}

static void messages_help(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "[1 2]",
          "the JSON text was refused: expected a comma or a closing bracket, "
          "found '2' at line 1, column 4 (path /0); correct the text there; "
          "JSON is one value in UTF-8 (RFC 8259)" },
        { "{\"a\":1,\"a\":2}",
          "the JSON text was refused: a key occurs twice in one object (\"a\") "
          "at line 1, column 8; rename or remove one, or let the first win by "
          "ALLM_JSON_DUPLICATES" },
        { "[\"abc",
          "the JSON text was refused: expected a closing quote, found the end "
          "of the text at line 1, column 6 (path /0); send the whole document, "
          "or read the beginning of one with allm_json_partial()" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *v = allm_json_parse(rows[i].text, ALLM_NUL_ENDED, NULL);
        const allm_error *e = allm_json_error(v);
        CHECK_TEXT(e ? e->message : NULL, rows[i].message);
        allm_json_free(v);
    }
}

/* What providers send, as they send it. */
static void accepts_odd_texts_if_requested(void)
{
    static const struct {
        const char *why;
        struct slice text, held;
    } rows[] = {
        { "no UTF-8", T("[\"a\xFF\"]"), T("a\xFF") },
        { "half a character", T("[\"a\xC3\"]"), T("a\xC3") },
        { "a control character", T("[\"a\tb\"]"), T("a\tb") },
        { "a high half", T("[\"\\ud83d\"]"), T("\xED\xA0\xBD") },
        { "a low half", T("[\"\\ude00x\"]"), T("\xED\xB8\x80x") },
        { "a high half and a letter", T("[\"\\ud83d\\u0041\"]"),
          T("\xED\xA0\xBD" "A") },
        { "a pair", T("[\"\\ud83d\\ude00\"]"), T("\xF0\x9F\x98\x80") },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        const allm_error *error;
        struct json_limits loose = limits();
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        if (strcmp(rows[i].why, "a pair") != 0)
            CHECK_ALWAYS(!json_parse(&a, rows[i].text, loose, &error));
        loose.loose = true;
        const allm_json *v = json_parse(&a, rows[i].text, loose, &error);
        CHECK_SLICE(json_slice(allm_json_at(v, 0)), rows[i].held);
        arena_release(&a);
    }
}

/* The path of an error may have a key that only lenient reading accepts. */
static void tells_where_behind_an_odd_key(void)
{
    static const char *const rows[] = { "{\"a\xFF\":}", "{\"a\\ud83d\":}",
                                        "{\"a\tb\":{\"c\":,}}" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        const allm_error *error = NULL;
        struct json_limits loose = limits();
        loose.loose = true;
        arena_init(&a, mem_default());
        check_row(rows[i]);
        CHECK_ALWAYS(!json_parse(&a, slice_of(rows[i]), loose, &error));
        CHECK(error && error->kind == ALLM_ERR_VALIDATION);
        arena_release(&a);
    }
}

static void last_of_equal_keys_wins_if_requested(void)
{
    static const char *const rows[][2] = {
        { "{\"a\":1,\"b\":2,\"a\":[3],\"a\":{\"x\":1,\"x\":2}}",
          "{\"b\":2,\"a\":{\"x\":2}}" },
        { "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,"
          "\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,"
          "\"o\":1,\"p\":1,\"q\":1,\"r\":1,\"a\":2}",
          "{\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,"
          "\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1,\"m\":1,\"n\":1,"
          "\"o\":1,\"p\":1,\"q\":1,\"r\":1,\"a\":2}" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        struct buf out;
        const allm_error *error;
        struct json_limits loose = limits();
        loose.loose = true;
        arena_init(&a, mem_default());
        buf_init(&out, &a, 1000);
        const allm_json *v = json_parse(&a, slice_of(rows[i][0]), loose,
                                        &error);
        if (v)
            json_write(&out, v, 0);
        CHECK_SLICE(buf_slice(&out), slice_of(rows[i][1]));
        arena_release(&a);
    }
}

TESTS = {
    TEST(accepts_odd_texts_if_requested),
    TEST(tells_where_behind_an_odd_key),
    TEST(last_of_equal_keys_wins_if_requested),
    TEST(accepts_json),
    TEST(refuses_structure),
    TEST(refuses_scalars),
    TEST(refuses_equal_keys),
    TEST(keeps_the_depth),
    TEST(refuses_unfinished_depth),
    TEST(tells_where_it_is_too_deep),
    TEST(keeps_the_size),
    TEST(keeps_numbers_short),
    TEST(first_of_equal_keys_wins),
    TEST(checks_big_objects),
    TEST_ONCE(a_million_keys),
    TEST(refuses_misuse),
    TEST(nothing_is_read_of_nothing),
    TEST(takes_a_length_or_not),
    TEST(uses_the_allocator_given),
    TEST(a_small_document_is_one_allocation),
    TEST(older_options_are_understood),
    TEST(messages_help),
    TESTS_END
};
