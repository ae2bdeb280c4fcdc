/* test_slice.c - compare and cut pieces of text */
#include "base/slice.h"

#include "harness/check.h"

static void is_made_from_text(void)
{
    CHECK_INT(slice_of("abc").len, 3);
    CHECK_INT(slice_of("").len, 0);
    CHECK(slice_of("").ptr != NULL);
    CHECK_INT(slice_of(NULL).len, 0);
    CHECK(slice_of(NULL).ptr == NULL);
    CHECK_INT(SLICE("a\0b").len, 3);
}

static void compares(void)
{
    static const struct {
        const char *why;
        struct slice a, b;
        bool equal, starts;     /* a starts with b */
    } rows[] = {
        { "equal", { "abc", 3 }, { "abc", 3 }, true, true },
        { "same length", { "abc", 3 }, { "abd", 3 }, false, false },
        { "a beginning", { "abc", 3 }, { "ab", 2 }, false, true },
        { "an end", { "abc", 3 }, { "bc", 2 }, false, false },
        { "longer than the whole", { "ab", 2 }, { "abc", 3 }, false, false },
        { "nothing at the start", { "abc", 3 }, { "", 0 }, false, true },
        { "both empty", { "", 0 }, { "", 0 }, true, true },
        { "absent is empty", { NULL, 0 }, { "", 0 }, true, true },
        { "absent twice", { NULL, 0 }, { NULL, 0 }, true, true },
        { "absent at the start", { "a", 1 }, { NULL, 0 }, false, true },
        { "nothing starts with something", { NULL, 0 }, { "a", 1 }, false,
          false },
        { "NUL inside, equal", { "a\0b", 3 }, { "a\0b", 3 }, true, true },
        { "NUL inside, unequal", { "a\0b", 3 }, { "a\0c", 3 }, false, false },
        { "NUL inside, cut", { "a\0b", 3 }, { "a", 1 }, false, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK(slice_eq(rows[i].a, rows[i].b) == rows[i].equal);
        CHECK(slice_eq(rows[i].b, rows[i].a) == rows[i].equal);
        CHECK(slice_starts(rows[i].a, rows[i].b) == rows[i].starts);
    }
}

static void knows_its_end(void)
{
    CHECK(slice_ends(SLICE("abc"), SLICE("bc")));
    CHECK(slice_ends(SLICE("abc"), SLICE("")));
    CHECK(!slice_ends(SLICE("abc"), SLICE("ab")));
    CHECK(!slice_ends(SLICE("bc"), SLICE("abc")));
}

static void takes_up_to_a_separator(void)
{
    static const struct {
        const char *why, *text, *taken, *rest;
    } rows[] = {
        { "in the middle", "ab,c", "ab", "c" },
        { "the first of two", "a,b,c", "a", "b,c" },
        { "at the start", ",b", "", "b" },
        { "at the end", "a,", "a", "" },
        { "nowhere", "abc", "abc", "" },
        { "nothing left", "", "", "" },
    };
    struct slice none = { NULL, 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slice rest = slice_of(rows[i].text);
        check_row(rows[i].why);
        CHECK(slice_is(slice_take(&rest, ','), rows[i].taken));
        CHECK(slice_is(rest, rows[i].rest));
    }
    CHECK(!slice_take(&none, ',').len);
    CHECK(!none.ptr);
}

static void compares_with_text(void)
{
    CHECK(slice_is(SLICE("abc"), "abc"));
    CHECK(!slice_is(SLICE("abc"), "abcd"));
    CHECK(!slice_is(SLICE("abc"), "ab"));
    CHECK(!slice_is(SLICE("abc\0"), "abc"));
    CHECK(slice_is(SLICE(""), ""));
    CHECK(slice_is(SLICE(""), NULL));
}

static void skips(void)
{
    struct slice s = SLICE("abc");
    CHECK_SLICE(slice_skip(s, 0), SLICE("abc"));
    CHECK_SLICE(slice_skip(s, 1), SLICE("bc"));
    CHECK_SLICE(slice_skip(s, 3), SLICE(""));
    CHECK_SLICE(slice_skip((struct slice){ NULL, 0 }, 0), slice_of(NULL));
}

/* Every length, and no byte beyond it. */
static void copies_itself(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (size_t n = 0; n < sizeof letters; n++) {
        char out[sizeof letters + 1];
        memset(out, '#', sizeof out);
        CHECK_ALWAYS(slice_put(out, (struct slice){ letters, n }) == out + n);
        CHECK_ALWAYS(!memcmp(out, letters, n));
        CHECK_ALWAYS(out[n] == '#');
    }
}

static void loses_its_ends(void)
{
    static const struct {
        struct slice text, stripped, trimmed;
    } rows[] = {
        { { " \t\r\na b\n\r\t ", 11 }, { "a b", 3 }, { "a b", 3 } },
        { { "\0 a \x01", 5 }, { "\0 a \x01", 5 }, { "a", 1 } },
        { { " \0 ", 3 }, { "\0", 1 }, { "", 0 } },
        { { "\v\f", 2 }, { "\v\f", 2 }, { "", 0 } },
        { { "\x7F\x80", 2 }, { "\x7F\x80", 2 }, { "\x7F\x80", 2 } },
        { { "  ", 2 }, { "", 0 }, { "", 0 } },
        { { "", 0 }, { "", 0 }, { "", 0 } },
        { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_SLICE(slice_strip(rows[i].text), rows[i].stripped);
        CHECK_SLICE(slice_trim(rows[i].text), rows[i].trimmed);
    }
}

TESTS = {
    TEST(is_made_from_text),
    TEST(compares),
    TEST(knows_its_end),
    TEST(takes_up_to_a_separator),
    TEST(compares_with_text),
    TEST(skips),
    TEST(copies_itself),
    TEST(loses_its_ends),
    TESTS_END
};
