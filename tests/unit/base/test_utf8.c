/* test_utf8.c - well-formed and malformed UTF-8 */
#include "base/utf8.h"

#include "harness/check.h"

/* --------------------------------------------------------------- tables --- */

static void judges_texts(void)
{
    static const struct {
        const char *why;
        struct slice text;
        bool valid;
        size_t bad;
        size_t count;
    } rows[] = {
        { "nothing", { "", 0 }, true, 0, 0 },
        { "nothing, absent", { NULL, 0 }, true, 0, 0 },
        { "ASCII", { "plain", 5 }, true, 0, 5 },
        { "NUL is a character", { "a\0b", 3 }, true, 0, 3 },
        { "the last of one byte", { "\x7F", 1 }, true, 0, 1 },
        { "the first of two", { "\xC2\x80", 2 }, true, 0, 1 },
        { "the last of two", { "\xDF\xBF", 2 }, true, 0, 1 },
        { "the first of three", { "\xE0\xA0\x80", 3 }, true, 0, 1 },
        { "before the surrogates", { "\xED\x9F\xBF", 3 }, true, 0, 1 },
        { "after the surrogates", { "\xEE\x80\x80", 3 }, true, 0, 1 },
        { "the last of three", { "\xEF\xBF\xBF", 3 }, true, 0, 1 },
        { "a byte order mark", { "\xEF\xBB\xBF", 3 }, true, 0, 1 },
        { "the first of four", { "\xF0\x90\x80\x80", 4 }, true, 0, 1 },
        { "the last of all", { "\xF4\x8F\xBF\xBF", 4 }, true, 0, 1 },
        { "all lengths", { "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z", 11 },
          true, 0, 5 },
        { "a lone tail", { "a\x80", 2 }, false, 1, 2 },
        { "the last tail", { "\xBF", 1 }, false, 0, 1 },
        { "two tails", { "\x80\xBF", 2 }, false, 0, 2 },
        { "overlong NUL", { "\xC0\x80", 2 }, false, 0, 2 },
        { "overlong, two bytes", { "\xC1\xBF", 2 }, false, 0, 2 },
        { "overlong, three bytes", { "\xE0\x9F\xBF", 3 }, false, 0, 3 },
        { "overlong, four bytes", { "\xF0\x8F\xBF\xBF", 4 }, false, 0, 4 },
        { "the first surrogate", { "\xED\xA0\x80", 3 }, false, 0, 3 },
        { "the last surrogate", { "\xED\xBF\xBF", 3 }, false, 0, 3 },
        { "a pair of surrogates (CESU-8)",
          { "\xED\xA0\xBD\xED\xB8\x80", 6 }, false, 0, 6 },
        { "just beyond U+10FFFF", { "\xF4\x90\x80\x80", 4 }, false, 0, 4 },
        { "far beyond", { "\xF5\x80\x80\x80", 4 }, false, 0, 4 },
        { "a sequence of five", { "\xF8\x88\x80\x80\x80", 5 }, false, 0, 5 },
        { "a sequence of six", { "\xFC\x84\x80\x80\x80\x80", 6 }, false, 0,
          6 },
        { "FE", { "\xFE", 1 }, false, 0, 1 },
        { "FF", { "ab\xFF", 3 }, false, 2, 3 },
        { "two bytes, cut", { "a\xC3", 2 }, false, 1, 2 },
        { "three bytes, cut after one", { "a\xE2", 2 }, false, 1, 2 },
        { "three bytes, cut after two", { "a\xE2\x82", 3 }, false, 1, 3 },
        { "four bytes, cut after three", { "\xF0\x9F\x98", 3 }, false, 0, 3 },
        { "a letter for a tail", { "\xE2\x82" "a", 3 }, false, 0, 3 },
        { "a lead for a tail", { "\xC3\xC3\xA4", 3 }, false, 0, 2 },
        { "well, then not", { "\xC3\xA4\xC3", 3 }, false, 2, 2 },
        { "not, then well", { "\xC3\xC3\xA4\xC3\xA4", 5 }, false, 0, 3 },
        { "after eight bytes of ASCII", { "12345678\x80", 9 }, false, 8, 9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        size_t bad = 0;
        CHECK(utf8_valid(rows[i].text, &bad) == rows[i].valid);
        CHECK(utf8_valid(rows[i].text, NULL) == rows[i].valid);
        CHECK_INT(bad, rows[i].bad);
        CHECK_INT(utf8_count(rows[i].text), rows[i].count);
    }
}

static void sees_what_is_unfinished(void)
{
    static const struct {
        const char *why;
        struct slice text;
        size_t unfinished;
    } rows[] = {
        { "nothing", { "", 0 }, 0 },
        { "nothing, absent", { NULL, 0 }, 0 },
        { "ASCII", { "abc", 3 }, 0 },
        { "whole characters", { "\xC3\xA4\xF0\x9F\x98\x80", 6 }, 0 },
        { "one of two", { "ab\xC3", 3 }, 1 },
        { "one of three", { "\xE2", 1 }, 1 },
        { "two of three", { "a\xE2\x82", 3 }, 2 },
        { "one of four", { "\xF0", 1 }, 1 },
        { "two of four", { "\xF0\x9F", 2 }, 2 },
        { "three of four", { "\xC3\xA4\xF0\x9F\x98", 5 }, 3 },
        { "three tails alone", { "\x80\x80\x80", 3 }, 0 },
        { "four tails", { "\xF0\x9F\x98\x80\x80", 5 }, 0 },
        { "two bytes and a tail too many", { "\xC3\xA4\xA4", 3 }, 0 },
        { "never a lead byte", { "a\xFF", 2 }, 0 },
        { "an overlong lead", { "\xC0", 1 }, 0 },
        { "becomes overlong", { "\xE0\x80", 2 }, 0 },
        { "becomes a surrogate", { "\xED\xA0", 2 }, 0 },
        { "does not become one", { "\xED\x9F", 2 }, 2 },
        { "becomes overlong, of four", { "\xF0\x80\x80", 3 }, 0 },
        { "becomes too large", { "\xF4\x90", 2 }, 0 },
        { "just not too large", { "\xF4\x8F\xBF", 3 }, 3 },
        { "malformed before, unfinished at the end", { "\xFF\xC3", 2 }, 1 },
        { "a lead after a lead", { "\xE2\xC3", 2 }, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].why);
        CHECK_INT(utf8_unfinished(rows[i].text), rows[i].unfinished);
    }
}

static void takes_one_by_one(void)
{
    struct slice s = SLICE("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\xFFz");
    static const uint32_t points[] = { 'a', 0xE4, 0x20AC, 0x1F600 };
    uint32_t point = 0;
    for (size_t i = 0; i < 4; i++) {
        CHECK(utf8_take(&s, &point));
        CHECK_INT(point, points[i]);
    }
    CHECK(!utf8_take(&s, &point));
    CHECK_INT(point, 0x1F600);
    CHECK_SLICE(s, SLICE("\xFFz"));
    s = SLICE("");
    CHECK(!utf8_take(&s, &point));
    CHECK_INT(s.len, 0);
}

static void refuses_to_put_what_is_no_character(void)
{
    static const uint32_t points[] = { 0xD800, 0xDABC, 0xDFFF, 0x110000,
                                       0x200000, UINT32_MAX };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char out[4] = "abc";
        CHECK_INT(utf8_put(out, points[i]), 0);
        CHECK_TEXT(out, "abc");
    }
}

/* ----------------------------------------------------------- properties --- */

static bool is_character(uint32_t point)
{
    return point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
}

static size_t length_of(uint32_t point)
{
    if (!is_character(point))
        return 0;
    return 1 + (size_t)(point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
}

static bool comes_back(uint32_t point)
{
    char out[4];
    size_t n = utf8_put(out, point);
    if (n != length_of(point) || n == 0)
        return n == length_of(point);
    struct slice s = { out, n };
    uint32_t again = ~point;
    return utf8_valid(s, NULL) && utf8_count(s) == 1 && utf8_take(&s, &again) &&
           again == point && s.len == 0;
}

static void every_character_comes_back(void)
{
    for (uint32_t point = 0; point < 0x110100; point++) {
        if (!comes_back(point)) {
            CHECK_INT(point, -1);
            return;
        }
    }
}

/* Is a sequence well-formed?  Computed in another way: add up the bits,
 * then see whether the shortest form of the sum has the same length. */
static size_t judge_slowly(const unsigned char *p, size_t len)
{
    size_t ones = 0;
    while (ones < 8 && p[0] & 0x80 >> ones)
        ones++;
    if (ones == 0)
        return 1;
    if (ones == 1 || ones > 4 || ones > len)
        return 0;
    uint32_t sum = p[0] & (0x7FU >> ones);
    for (size_t i = 1; i < ones; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        sum = sum * 64 + p[i] % 64;
    }
    uint32_t least = ones == 2 ? 0x80 : ones == 3 ? 0x800 : 0x10000;
    return sum >= least && is_character(sum) ? ones : 0;
}

/* All functions must see the same in the same bytes. */
static bool all_agree(struct slice s)
{
    size_t at = 0, count = 0, bad = 0, first_bad = s.len;
    while (at < s.len) {
        struct slice rest = slice_skip(s, at);
        uint32_t point;
        size_t n = judge_slowly((const unsigned char *)rest.ptr, rest.len);
        if (utf8_take(&rest, &point) != (n > 0) || rest.len + n + at != s.len)
            return false;
        if (!n && first_bad == s.len)
            first_bad = at;
        at += n ? n : 1;
        count++;
    }
    bool valid = utf8_valid(s, &bad);
    return valid == (first_bad == s.len) && (valid || bad == first_bad) &&
           utf8_count(s) == count;
}

/* Of ASCII and tails only some. */
static void many_sequences_of_three_bytes(void)
{
    unsigned char bytes[3];
    struct slice s = { (const char *)bytes, 3 };
    for (unsigned n = 0; n < 1 << 24; n += n >> 16 < 0xC0 ? 997 : 7) {
        bytes[0] = (unsigned char)(n >> 16);
        bytes[1] = (unsigned char)(n >> 8);
        bytes[2] = (unsigned char)n;
        if (!all_agree(s)) {
            CHECK_INT(n, -1);
            return;
        }
    }
}

/* Bytes that are more often near the borders than chance would have it. */
static size_t make_bytes(struct random r, char *out, size_t most)
{
    static const char pieces[][5] = {
        "a", "1234", "\xC2\x80", "\xC3\xA4", "\xDF\xBF",
        "\xE0\xA0\x80", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\xC0\x80", "\xED\xA0\x80",
        "\xF4\x90\x80\x80", "\x80", "\xBF", "\xE2\x82", "\xF0\x9F",
    };
    size_t len = 0, want = random_below(r, most - 4);
    while (len < want) {
        const char *piece = pieces[random_below(r, sizeof pieces / 5)];
        size_t n = strlen(piece);
        memcpy(out + len, piece, n);
        len += n;
    }
    if (len && random_below(r, 3) == 0)
        random_fill(r, out + random_below(r, len), 1);
    return len;
}

static void random_bytes_are_judged_alike(void)
{
    struct random r = check_random();
    for (int i = 0; i < 100000; i++) {
        char bytes[64];
        struct slice s = { bytes, make_bytes(r, bytes, sizeof bytes) };
        if (!CHECK(all_agree(s)))
            return;
    }
}

/* The fast path goes eight by eight: try a fault at each place. */
static void a_fault_is_found_at_every_place(void)
{
    char text[80];
    for (size_t start = 0; start < 8; start++) {
        for (size_t at = start; at < sizeof text; at++) {
            memset(text, 'x', sizeof text);
            text[at] = '\xFF';
            struct slice s = { text + start, sizeof text - start };
            size_t bad = SIZE_MAX;
            CHECK(!utf8_valid(s, &bad));
            CHECK_INT(bad, at - start);
            CHECK_INT(utf8_count(s), s.len);
        }
    }
}

/* Cut well-formed text anywhere: the number of missing bytes is right. */
static void every_cut_is_seen(void)
{
    struct random r = check_random();
    char text[400];
    size_t len = 0, start[400] = { 0 };     /* of the character of each byte */
    while (len < sizeof text - 4) {
        uint32_t point = (uint32_t)random_below(r, 0x110000);
        size_t n = utf8_put(text + len, point >> random_below(r, 20));
        for (size_t i = 0; i < n; i++)
            start[len + i] = len;
        len += n;
    }
    for (size_t cut = 0; cut < len; cut++) {
        struct slice s = { text, cut };
        size_t missing = cut - start[cut];
        CHECK_INT(utf8_unfinished(s), missing);
        CHECK(utf8_valid((struct slice){ text, cut - missing }, NULL));
        CHECK(utf8_valid(s, NULL) == (missing == 0));
    }
}

static void malformed_bytes_are_replaced(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "a", "a" }, { "\xC3\xA9", "\xC3\xA9" },
        { "\xFF", "\xEF\xBF\xBD" }, { "a\xFFz", "a\xEF\xBF\xBDz" },
        { "\xE2\x82", "\xEF\xBF\xBD\xEF\xBF\xBD" },
        { "\xC0\xC3\xA9", "\xEF\xBF\xBD\xC3\xA9" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        check_row(rows[i].text);
        arena_init(&a, mem_default());
        struct slice copy = utf8_copy(&a, slice_of(rows[i].text));
        struct slice well = utf8_repair(&a, slice_of(rows[i].text));
        CHECK_SLICE(copy, slice_of(rows[i].want));
        CHECK_SLICE(well, slice_of(rows[i].want));
        CHECK(!copy.ptr || copy.ptr[copy.len] == '\0');
        arena_release(&a);
    }
}

TESTS = {
    TEST(malformed_bytes_are_replaced),
    TEST(judges_texts),
    TEST(sees_what_is_unfinished),
    TEST(takes_one_by_one),
    TEST(refuses_to_put_what_is_no_character),
    TEST(every_character_comes_back),
    TEST(many_sequences_of_three_bytes),
    TEST(random_bytes_are_judged_alike),
    TEST(a_fault_is_found_at_every_place),
    TEST(every_cut_is_seen),
    TESTS_END
};
