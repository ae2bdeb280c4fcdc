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

TESTS = {
    TEST(letters_of_both_cases_are_equal),
    TESTS_END,
};
