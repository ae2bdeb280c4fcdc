/* test_span.c - the bytes of a text that hold a value */
#include "json/span.h"

#include "harness/check.h"
#include "json/json.h"

static const allm_json_opts allowed = { .size = sizeof allowed,
                                        .flags = ALLM_JSON_COMMENTS };

static const char document[] =
    "  // {\"a\": 9}\n"
    "{ \"a\" : 12 , /* \"b\": 1 */ \"b\":[ true,\"x, ]\\\\\\\"\" ,{ \"c~/\":\n"
    "-1.5e3}, [], {} ,null], \"\":{\"\": \"}\"} , \"\\u0064\":false,}";

static void finds_the_bytes(void)
{
    static const struct {
        const char *pointer, *want;
    } rows[] = {
        { "/a", "12" },
        { "/b/0", "true" },
        { "/b/1", "\"x, ]\\\\\\\"\"" },
        { "/b/2", "{ \"c~/\":\n-1.5e3}" },
        { "/b/2/c~0~1", "-1.5e3" },
        { "/b/3", "[]" },
        { "/b/4", "{}" },
        { "/b/5", "null" },
        { "/", "{\"\": \"}\"}" },
        { "//", "\"}\"" },
        { "/d", "false" },
        { "/b", "[ true,\"x, ]\\\\\\\"\" ,{ \"c~/\":\n-1.5e3}, [], {} ,null]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t from = 0, to = 0;
        check_row(rows[i].pointer);
        CHECK_INT(allm_json_span(document, ALLM_NUL_ENDED, &allowed,
                                 rows[i].pointer, &from, &to),
                  ALLM_OK);
        CHECK_SLICE(((struct slice){ document + from, to - from }),
                    slice_of(rows[i].want));
    }
}

static void the_root_is_a_value(void)
{
    static const char *const rows[] = { "1", " 1 ", "\"a b\"", "[]", " {} ",
                                        "true", "-0.5" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t from = 0, to = 0;
        CHECK_INT(allm_json_span(rows[i], ALLM_NUL_ENDED, NULL, "", &from, &to),
                  ALLM_OK);
        CHECK_INT(from, rows[i][0] == ' ');
        CHECK_INT(to, strlen(rows[i]) - (rows[i][strlen(rows[i]) - 1] == ' '));
    }
}

static void says_what_is_missing(void)
{
    static const struct {
        const char *text, *pointer;
        allm_status want;
    } rows[] = {
        { document, "/x", ALLM_AGAIN },
        { document, "/b/6", ALLM_AGAIN },
        { document, "/a/0", ALLM_AGAIN },
        { document, "a", ALLM_AGAIN },
        { document, "/b/2/c~", ALLM_AGAIN },
        { "{", "/a", ALLM_ERR_VALIDATION },
        { "{\"a\":1,\"a\":2}", "/a", ALLM_ERR_VALIDATION },
        { "", "", ALLM_ERR_VALIDATION },
        { NULL, "/a", ALLM_ERR_MISUSE },
        { document, NULL, ALLM_ERR_MISUSE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t from = 77, to = 78;
        CHECK_INT(allm_json_span(rows[i].text, ALLM_NUL_ENDED, &allowed,
                                 rows[i].pointer, &from, &to),
                  rows[i].want);
        CHECK_ALWAYS(from == 77 && to == 78);
    }
    allm_json_opts wrong = { .size = sizeof wrong, .flags = 1u << 9 };
    size_t from, to;
    CHECK_INT(allm_json_span("1", 1, &wrong, "", &from, &to), ALLM_ERR_MISUSE);
    CHECK_INT(allm_json_span("1", 1, NULL, "", NULL, &to), ALLM_ERR_MISUSE);
}

TESTS = { TEST(finds_the_bytes), TEST(the_root_is_a_value),
          TEST(says_what_is_missing), TESTS_END };
