/* test_comments.c - comments and last commas are accepted only if allowed */
#include "json/comments.h"

#include "harness/check.h"
#include "json/json.h"

#include <stdlib.h>

static const allm_json_opts allowed = { .size = sizeof allowed,
                                        .flags = ALLM_JSON_COMMENTS };

static void reads_what_is_left(void)
{
    static const struct {
        const char *text, *want; /* NULL: refused */
    } rows[] = {
        { "// one\n1", "1" },
        { "1 // the end", "1" },
        { "1 //", "1" },
        { "1/**/", "1" },
        { "/* a */ [1, /* b\n * c */ 2] // d\r\n", "[1,2]" },
        { "/***/1/****/", "1" },
        { "/* // */ 1", "1" },
        { "// /*\n1", "1" },
        { "[1,]", "[1]" },
        { "[1, /* x */ ]", "[1]" },
        { "{\"a\": {\"b\": [], }, // x\n}", "{\"a\":{\"b\":[]}}" },
        { "[\"//\", \"/*\", \"\\\"/*\", \",]\",]",
          "[\"//\",\"/*\",\"\\\"/*\",\",]\"]" },
        { "{\"// k\": 1}", "{\"// k\":1}" },
        { "{\"a\"/*1*/:/*2*/1/*3*/,/*4*/}", "{\"a\":1}" },
        { "\xc3\xa4", NULL },
        { "// \xc3\xa4\n1", "1" },
        { "// \xff\n1", NULL },
        { "/* \xc3 */ 1", NULL },
        { "1 /", NULL },
        { "1 /*", NULL },
        { "1 /* *", NULL },
        { "1 /*/", NULL },
        { "1 / / x", NULL },
        { "# one\n1", NULL },
        { "[,]", NULL },
        { "[1,,]", NULL },
        { "{,}", NULL },
        { "{\"a\",}", NULL },
        { "{\"a\":,}", NULL },
        { "[1,", NULL },
        { "1,", NULL },
        { ",1", NULL },
        { "[1,}", NULL },
        { "// only", NULL },
        { "1/**/2", NULL },
        { "tr/**/ue", NULL },
        { "\"a /* b", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].text);
        allm_json *v = allm_json_parse(rows[i].text, ALLM_NUL_ENDED, &allowed);
        allm_text *t = allm_json_error(v) ? NULL : allm_json_write(v, 0);
        CHECK_TEXT(allm_text_bytes(t, NULL), rows[i].want);
        allm_text_free(t);
        allm_json_free(v);
    }
}

static void refuses_them_elsewhere(void)
{
    static const char *const rows[] = { "// one\n1", "1 /* */", "[1,]",
                                        "{\"a\":1,}" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        allm_json *v = allm_json_parse(rows[i], ALLM_NUL_ENDED, NULL);
        CHECK(allm_json_error(v) != NULL);
        allm_json_free(v);
    }
}

static void errors_keep_their_place(void)
{
    static const char text[] = "{ // {\"x\": [\n  /* \" */ \"a\": [1, ?] }";
    allm_json *v = allm_json_parse(text, ALLM_NUL_ENDED, &allowed);
    const allm_error *e = allm_json_error(v);
    const allm_json *at = e ? e->metadata : NULL;
    CHECK_INT(allm_json_number(allm_json_get(at, "offset")), 32);
    CHECK_INT(allm_json_number(allm_json_get(at, "line")), 2);
    CHECK_TEXT(allm_json_text(allm_json_get(at, "path"), NULL), "/a/1");
    allm_json_free(v);
}

static void a_limit_comes_first(void)
{
    allm_json_opts small = allowed;
    small.max_bytes = 3;
    allm_json *v = allm_json_parse("/**/1", ALLM_NUL_ENDED, &small);
    CHECK(allm_json_error(v) != NULL);
    allm_json_free(v);
}

/* Every beginning of a text is read without looking beyond its end; none but
 * the whole is the object. */
static void every_cut_is_refused(void)
{
    static const char text[] =
        "/* a */ { // b\n \"c\": [1, /* d */ 2,], // e\n \"\\\"/*\": 3, }";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char *piece = malloc(n + 1);    /* a sanitizer sees its end */
        if (!piece)
            return;
        memcpy(piece, text, n);
        allm_json *v = allm_json_parse(piece, n, &allowed);
        CHECK(allm_json_type_of(v) == ALLM_JSON_NONE);
        allm_json_free(v);
        free(piece);
    }
    allm_json *v = allm_json_parse(text, sizeof text - 1, &allowed);
    CHECK_INT(allm_json_count(v), 2);
    allm_json_free(v);
}

TESTS = { TEST(reads_what_is_left), TEST(refuses_them_elsewhere),
          TEST(errors_keep_their_place), TEST(a_limit_comes_first),
          TEST_ONCE(every_cut_is_refused), TESTS_END };
