/* test_nocase.c - compare strings without case */
#include "base/nocase.h"

#include "harness/check.h"

static void letters_of_both_cases_are_equal(void)
{
    static const struct {
        const char *text, *word;
        bool starts, is;
    } rows[] = {
        { "Location", "location", true, true },
        { "HTTPS://x", "https://", true, false },
        { "http", "https", false, false },
        { "stop", "STOP", true, true },
        { "stop", "", true, false },
        { "", "", true, true },
        { "[", "{", false, false },
        { "\xC3\x84", "\xC3\xA4", false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slice text = slice_of(rows[i].text);
        check_row(rows[i].text);
        CHECK_INT(nocase_starts(text, rows[i].word), rows[i].starts);
        CHECK_INT(nocase_is(text, rows[i].word), rows[i].is);
    }
    CHECK(!nocase_is((struct slice){ NULL, 0 }, "x"));
}

static void slices_are_equal_as_a_whole(void)
{
    CHECK(nocase_eq(SLICE("Example.ORG"), SLICE("example.org")));
    CHECK(nocase_eq(SLICE(""), (struct slice){ NULL, 0 }));
    CHECK(!nocase_eq(SLICE("ab"), SLICE("abc")));
    CHECK(!nocase_eq(SLICE("abc"), SLICE("ab")));
    CHECK(!nocase_eq(SLICE("[a"), SLICE("{a")));
}

static void finds_a_header_by_its_name(void)
{
    static const char *const header[] = { "Retry-After",  "7",
                                          "X-Request-Id", "r",
                                          "location",     "there",
                                          "Retry-After",  "8" };
    static const struct {
        const char *why, *name, *value;
    } rows[] = {
        { "the first of two", "retry-after", "7" },
        { "in lower case", "location", "there" },
        { "a part of a name", "retry", NULL },
        { "a longer name", "locations", NULL },
        { "no name", "", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_TEXT(nocase_header(header, 4, rows[i].name), rows[i].value);
    }
}

TESTS = {
    TEST(letters_of_both_cases_are_equal),
    TEST(slices_are_equal_as_a_whole),
    TEST(finds_a_header_by_its_name),
    TESTS_END,
};
