/* test_pattern.c - regular expressions as JSON Schema defines them */
#include "json/pattern.h"

#include "base/buf.h"
#include "harness/check.h"

#include <stdio.h>

#define T(literal) { literal, sizeof(literal) - 1 }

static const size_t plenty = (size_t)1 << 40;

/* Compile and match in a new arena; NOMEM if anything fails. */
static enum pattern_result match(struct slice pattern, struct slice text)
{
    struct arena a;
    arena_init(&a, mem_default());
    const char *fault = NULL;
    size_t budget = plenty;
    enum pattern_result result = PATTERN_NOMEM;
    const struct pattern *p = pattern_new(&a, pattern, &fault);
    if (p)
        result = pattern_match(p, text, &a, &budget);
    arena_release(&a);
    return result;
}

struct row {
    const char *why;
    struct slice pattern, text;
    bool matches;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_row(rows[i].why);
        CHECK_INT(match(rows[i].pattern, rows[i].text),
                  rows[i].matches ? PATTERN_YES : PATTERN_NO);
    }
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof *(rows))

static void finds_letters_anywhere(void)
{
    static const struct row rows[] = {
        { "the empty pattern fits the empty text", T(""), T(""), true },
        { "and any other", T(""), T("abc"), true },
        { "at the begin", T("ab"), T("abc"), true },
        { "in the middle", T("b"), T("abc"), true },
        { "at the end", T("bc"), T("abc"), true },
        { "not at all", T("d"), T("abc"), false },
        { "in order", T("ba"), T("abc"), false },
        { "a false start is given up", T("aab"), T("aaab"), true },
        { "two bytes are one letter", T("^.$"), T("\xC3\xA9"), true },
        { "so are four", T("^.$"), T("\xF0\x9F\x98\x80"), true },
        { "letters beyond ASCII", T("\xC3\xA9t\xC3\xA9"),
          T("l'\xC3\xA9t\xC3\xA9"), true },
        { "not half of a letter", T("^\xC3\xA9$"), T("\xC3\xA8"), false },
        { "NUL in the text", T("a.b"), T("a\0b"), true },
        { "NUL in the pattern", T("a\0b"), T("a\0b"), true },
        { "a malformed byte is one letter", T("^a.b$"), T("a\xFF" "b"), true },
        { "namely U+FFFD", T("^a\\uFFFDb$"), T("a\xC3" "b"), true },
        { "and from behind, too", T("a(?=.b)"), T("a\xC3" "b"), true },
    };
    CHECK_ROWS(rows);
}

static void knows_anchors(void)
{
    static const struct row rows[] = {
        { "begin", T("^ab"), T("abc"), true },
        { "not at the begin", T("^b"), T("abc"), false },
        { "end", T("bc$"), T("abc"), true },
        { "not at the end", T("b$"), T("abc"), false },
        { "both", T("^abc$"), T("abc"), true },
        { "nothing between", T("^$"), T(""), true },
        { "nothing, but there is", T("^$"), T("a"), false },
        { "no line mode", T("^b$"), T("a\nb\nc"), false },
        { "a begin inside never holds", T("a^b"), T("ab"), false },
        { "unless nothing stands before", T("a*^b"), T("b"), true },
        { "word edges", T("\\bcat\\b"), T("a cat."), true },
        { "no word edge", T("\\bcat\\b"), T("concat"), false },
        { "inside a word", T("\\Bcat"), T("concat"), true },
        { "inside nothing", T("^\\B$"), T(""), true },
        { "words are ASCII", T("\\bb"), T("\xC3\xA9" "b"), true },
    };
    CHECK_ROWS(rows);
}

static void knows_classes(void)
{
    static const struct row rows[] = {
        { "one of", T("^[abc]$"), T("b"), true },
        { "none of", T("^[abc]$"), T("d"), false },
        { "a range", T("^[a-f]$"), T("f"), true },
        { "beyond a range", T("^[a-f]$"), T("g"), false },
        { "negated", T("^[^a-f]$"), T("g"), true },
        { "negated, inside", T("^[^a-f]$"), T("a"), false },
        { "a hyphen first", T("^[-a]$"), T("-"), true },
        { "a hyphen last", T("^[a-]$"), T("-"), true },
        { "a hyphen behind a set", T("^[\\w-.]$"), T("-"), true },
        { "a hyphen before a set", T("^[.-\\w]$"), T("x"), true },
        { "an escaped hyphen", T("^[a\\-z]$"), T("m"), false },
        { "brackets", T("^[\\[\\]]$"), T("]"), true },
        { "marks mean themselves", T("^[.*+?(){}|^$/]+$"), T("(.*)$^|/"),
          true },
        { "nothing fits nothing", T("[]"), T("a"), false },
        { "all fits all", T("^[^]$"), T("\n"), true },
        { "a range beyond ASCII", T("^[\xCE\xB1-\xCF\x89]+$"),
          T("\xCE\xBB\xCF\x8C\xCE\xB3"), false },
        { "Greek", T("^[\xCE\xB1-\xCF\x89]+$"), T("\xCE\xBB\xCE\xB3"), true },
        { "negated beyond ASCII", T("^[^a]$"), T("\xF0\x9F\x98\x80"), true },
        { "digits", T("^\\d+$"), T("0123456789"), true },
        { "digits are ASCII", T("\\d"), T("\xD9\xA3"), false },
        { "no digits", T("^\\D+$"), T("a-\xD9\xA3"), true },
        { "word letters", T("^\\w+$"), T("aZ_09"), true },
        { "not of a word", T("^\\W$"), T("\xC3\xA9"), true },
        { "white space", T("^\\s+$"),
          T(" \t\n\r\f\v\xC2\xA0\xE2\x80\xA8\xEF\xBB\xBF\xE3\x80\x80"), true },
        { "no white space", T("^\\S+$"), T("a b"), false },
        { "zero width is no space", T("\\s"), T("\xE2\x80\x8B"), false },
        { "sets in a class", T("^[\\d\\sx]+$"), T("1 x"), true },
        { "negated sets in a class", T("^[\\D\\d]+$"), T("a1"), true },
        { "a negated class of a negated set", T("^[^\\D]+$"), T("12"), true },
        { "backspace", T("^[\\b]$"), T("\b"), true },
        { "the dot knows lines", T("^.$"), T("\n"), false },
        { "of all kinds", T("^.$"), T("\xE2\x80\xA9"), false },
    };
    CHECK_ROWS(rows);
}

static void knows_escapes(void)
{
    static const struct row rows[] = {
        { "controls", T("^\\t\\n\\v\\f\\r\\0$"), T("\t\n\v\f\r\0"), true },
        { "two hex digits", T("^\\x41\\xe9$"), T("A\xC3\xA9"), true },
        { "four hex digits", T("^\\u00e9$"), T("\xC3\xA9"), true },
        { "a surrogate pair", T("^\\uD83D\\uDE00$"), T("\xF0\x9F\x98\x80"),
          true },
        { "half a pair fits nothing", T("\\uD83D"), T("\xF0\x9F\x98\x80"),
          false },
        { "two first halves", T("^\\uD83D\\uD83D$"), T("a"), false },
        { "in braces", T("^\\u{1F600}\\u{41}$"), T("\xF0\x9F\x98\x80" "A"),
          true },
        { "a range of pairs", T("^[\\u{1F600}-\\uD83D\\uDE4F]$"),
          T("\xF0\x9F\x98\x81"), true },
        { "control letters", T("^\\cJ\\cj$"), T("\n\n"), true },
        { "marks", T("^\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/$"),
          T("^$\\.*+?()[]{}|/"), true },
        { "marks that need none", T("^\\-\\_\\@\\\"\\#\\ $"), T("-_@\"# "),
          true },
        { "braces that count nothing", T("^{a}{,3}]$"), T("{a}{,3}]"), true },
    };
    CHECK_ROWS(rows);
}

static void knows_properties(void)
{
    static const struct row rows[] = {
        { "letters", T("^\\p{L}+$"), T("a\xC3\xA9\xE6\xBC\xA2\xCE\xBB"),
          true },
        { "no letter", T("\\p{L}"), T("1 -\xE2\x82\xAC"), false },
        { "the long name", T("^\\p{Letter}+$"), T("\xCF\x80"), true },
        { "with its property", T("^\\p{General_Category=Letter}+$"),
          T("\xCF\x80"), true },
        { "in short", T("^\\p{gc=Lu}$"), T("\xC3\x89"), true },
        { "capitals", T("^\\p{Lu}$"), T("\xC3\xA9"), false },
        { "capitals that take turns", T("^\\p{Lu}\\p{Ll}$"),
          T("\xC4\x80\xC4\x81"), true },
        { "digits of the world", T("^\\p{Nd}+$"), T("1\xD9\xA3"), true },
        { "by their old name", T("^\\p{digit}+$"), T("1\xD9\xA3"), true },
        { "money", T("^\\p{Sc}+$"), T("$\xE2\x82\xAC"), true },
        { "symbols", T("^\\p{S}+$"), T("+\xF0\x9F\x98\x80"), true },
        { "punctuation", T("^\\p{P}+$"), T("!\xC2\xBF\xE2\x80\x94"), true },
        { "separators", T("^\\p{Z}+$"), T(" \xC2\xA0\xE2\x80\xA8"), true },
        { "marks", T("^e\\p{M}$"), T("e\xCC\x81"), true },
        { "controls", T("^\\p{Cc}$"), T("\n"), true },
        { "all but letters", T("^\\P{L}+$"), T("1 -"), true },
        { "in a class", T("^[\\p{Lu}\\d]+$"), T("\xC3\x89" "1"), true },
        { "negated in a class", T("^[\\P{L}a]+$"), T("1a"), true },
        { "in a negated class", T("^[^\\p{L}]+$"), T("1a"), false },
        { "ASCII", T("^\\p{ASCII}+$"), T("az~"), true },
        { "not ASCII", T("^\\P{ASCII}+$"), T("\xC3\xA9"), true },
        { "anything", T("^\\p{Any}+$"), T("a\xC3\xA9\n"), true },
        { "assigned", T("\\p{Assigned}"), T("\xEF\xBF\xBF"), false },
        { "not yet assigned", T("^\\p{Cn}$"), T("\xEF\xBF\xBF"), true },
    };
    CHECK_ROWS(rows);
}

static void knows_groups_and_repeats(void)
{
    static const struct row rows[] = {
        { "one or the other", T("^(cat|dog)$"), T("dog"), true },
        { "neither", T("^(cat|dog)$"), T("cow"), false },
        { "alternatives reach to the ends", T("^a|b$"), T("xb"), true },
        { "an empty alternative", T("^(a|)$"), T(""), true },
        { "a group without number", T("^(?:ab)+$"), T("abab"), true },
        { "a group with a name", T("^(?<year>\\d{4})$"), T("2024"), true },
        { "star", T("^a*$"), T(""), true },
        { "plus needs one", T("^a+$"), T(""), false },
        { "maybe", T("^ab?c$"), T("ac"), true },
        { "at most one", T("^ab?c$"), T("abbc"), false },
        { "exactly", T("^a{3}$"), T("aaa"), true },
        { "not less", T("^a{3}$"), T("aa"), false },
        { "not more", T("^a{3}$"), T("aaaa"), false },
        { "at least", T("^a{2,}$"), T("aaaaa"), true },
        { "not less than at least", T("^a{2,}$"), T("a"), false },
        { "between", T("^a{2,4}$"), T("aaa"), true },
        { "beyond", T("^a{2,4}$"), T("aaaaa"), false },
        { "no times", T("^a{0}b$"), T("b"), true },
        { "no or more times", T("^a{0,}b$"), T("aab"), true },
        { "nothing, very often", T("^(?:){1000000000}b$"), T("b"), true },
        { "lazy is the same to us", T("^a*?b+?c??d{1,2}?$"), T("aabcdd"),
          true },
        { "nested", T("^((a|b)*c)*$"), T("abcbac"), true },
        { "a repeat that may be empty", T("^(a*)*$"), T("aaa"), true },
        { "a repeat of nothing but edges", T("^(?:\\b|a)*$"), T("aa"), true },
        { "a date", T("^\\d{4}-(0[1-9]|1[0-2])-([0-2]\\d|3[01])$"),
          T("2024-02-29"), true },
        { "no date", T("^\\d{4}-(0[1-9]|1[0-2])-([0-2]\\d|3[01])$"),
          T("2024-13-01"), false },
        { "a mail address", T("^[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+$"),
          T("a.b+c@example.co.uk"), true },
        { "a UUID",
          T("^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
          T("123e4567-e89b-12d3-a456-426614174000"), true },
    };
    CHECK_ROWS(rows);
}

static void looks_around(void)
{
    static const struct row rows[] = {
        { "ahead", T("a(?=b)"), T("ab"), true },
        { "not ahead", T("a(?=b)"), T("ac"), false },
        { "ahead takes nothing", T("^a(?=b)b$"), T("ab"), true },
        { "ahead to the end", T("^(?=.*\\d)(?=.*[a-z]).{4,}$"), T("ab1c"),
          true },
        { "a password without digit", T("^(?=.*\\d)(?=.*[a-z]).{4,}$"),
          T("abcd"), false },
        { "what must not come", T("^(?!admin$)\\w+$"), T("admin"), false },
        { "what may come", T("^(?!admin$)\\w+$"), T("admins"), true },
        { "order in a lookahead", T("^(?=abc)"), T("abc"), true },
        { "wrong order", T("^(?=cba)"), T("abc"), false },
        { "repeats in a lookahead", T("^(?=a+b{2}c*d)"), T("aabbd"), true },
        { "behind", T("(?<=\\$)\\d+"), T("costs $42"), true },
        { "not behind", T("(?<=\\$)\\d+"), T("costs 42"), false },
        { "what must not stand behind", T("^.*(?<!\\.exe)$"), T("a.exe"),
          false },
        { "what may stand behind", T("^.*(?<!\\.exe)$"), T("a.txt"), true },
        { "behind reaches the begin", T("(?<=^a+)b"), T("aaab"), true },
        { "one in another", T("^(?=a(?=b(?!c)))"), T("abd"), true },
        { "one in another, refused", T("^(?=a(?=b(?!c)))"), T("abc"), false },
        { "behind in ahead", T("a(?=.(?<=ab)c)"), T("abc"), true },
        { "in a repeat", T("^(?:(?=\\w)\\S)+$"), T("abc"), true },
        { "in alternatives", T("^(?:(?=a)..|b)$"), T("ac"), true },
        { "anchors in a lookahead", T("(?=b$)"), T("ab"), true },
        { "letters of two bytes", T("(?=\xC3\xA9\xC3\xA8)"),
          T("x\xC3\xA9\xC3\xA8"), true },
    };
    CHECK_ROWS(rows);
}

/* A rejected pattern, with its message and position. */
static void refuses_with_words(void)
{
    static const struct {
        const char *why;
        struct slice pattern;
        const char *fault;
    } rows[] = {
        { "open group", T("ab(c"), "\"(\" without \")\" at character 3" },
        { "closed group", T("ab)c"), "\")\" without \"(\" at character 3" },
        { "open class", T("a[bc"), "\"[\" without \"]\" at character 2" },
        { "places count letters", T("\xC3\xA9["),
          "\"[\" without \"]\" at character 2" },
        { "star alone", T("*a"), "nothing to repeat at character 1" },
        { "two stars", T("a**"), "nothing to repeat at character 3" },
        { "a count alone", T("a|{2}"), "nothing to repeat at character 3" },
        { "a repeated anchor", T("^*"), "nothing to repeat at character 2" },
        { "a repeated lookahead", T("(?=a)+"),
          "nothing to repeat at character 6" },
        { "a backward count", T("a{3,2}"),
          "a repeat runs backwards at character 2" },
        { "a backward range", T("[b-a]"),
          "a range runs backwards at character 2" },
        { "a back reference", T("(a)\\1"),
          "back references are not supported at character 4" },
        { "a named one", T("\\k<a>"),
          "named back references are not supported at character 1" },
        { "octal", T("\\012"),
          "octal escapes are not supported at character 1" },
        { "not of this language", T("\\Aab\\Z"),
          "unknown escape at character 1" },
        { "an edge in a class", T("[\\B]"), "unknown escape at character 2" },
        { "a letter that needs none", T("\\\xC3\xA9"),
          "unknown escape at character 1" },
        { "flags", T("(?i)a"),
          "unknown kind of group (flags and others are "
          "not supported) at character 2" },
        { "a Python name", T("(?P<a>b)"),
          "unknown kind of group (flags and "
          "others are not supported) at character 2" },
        { "a name without end", T("(?<a"),
          "expected the name of a group at character 4" },
        { "a backslash at the end", T("a\\"), "unexpected end at character 3" },
        { "few hex digits", T("\\u12"),
          "expected four hexadecimal digits at character 3" },
        { "bad hex digits", T("\\xZZ"), "unknown escape at character 1" },
        { "empty braces", T("\\u{}"),
          "expected hexadecimal digits at character 4" },
        { "open braces", T("\\u{41"),
          "expected a hexadecimal digit or \"}\" at character 6" },
        { "too far", T("\\u{110000}"),
          "there is no such code point at character 10" },
        { "no control", T("\\c1"),
          "expected a letter behind \"\\c\" at character 3" },
        { "no property", T("\\pL"),
          "expected \"{\" behind \"\\p\" at character 3" },
        { "an unknown property", T("\\p{Greek}"),
          "unknown property (we know "
          "general categories, Any, ASCII and Assigned) at character 3" },
        { "an open property", T("\\p{L"), "expected \"}\" at character 5" },
        { "malformed UTF-8", T("a\xFF"), "malformed UTF-8 at character 2" },
        { "too large", T("a{10001}"),
          "the pattern is too large (repeats are "
          "written out) at character 9" },
        { "too large by nesting", T("((a{100}){100}){100}"),
          "the pattern is too large (repeats are written out) at character "
          "21" },
        { "too large in a lookahead", T("(?=a{9000})b{9000}"),
          "the pattern is too large (repeats are written out) at character "
          "19" },
        { "a count beyond all numbers", T("a{99999999999999999999}"),
          "the pattern is too large (repeats are written out) at character "
          "24" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        const char *fault = NULL;
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        CHECK(!pattern_new(&a, rows[i].pattern, &fault));
        CHECK_TEXT(fault, rows[i].fault);
        arena_release(&a);
    }
}

/* `head`, then `part` n times, then `tail`. */
static struct slice repeat(struct arena *a, const char *head, const char *part,
                           size_t n, const char *tail)
{
    struct buf b;
    buf_init(&b, a, (size_t)1 << 24);
    buf_text(&b, head);
    for (size_t i = 0; i < n; i++)
        buf_text(&b, part);
    buf_text(&b, tail);
    return buf_slice(&b);
}

static void limits_groups_and_looks(void)
{
    struct arena a;
    const char *fault = NULL;
    arena_init(&a, mem_default());
    struct slice deep = repeat(&a, "", "(", 100, "");
    struct slice whole = repeat(&a, deep.ptr, ")", 100, "");
    CHECK_WHY(pattern_new(&a, whole, &fault), "100 groups are fine");
    deep = repeat(&a, "", "(", 100000, "");
    CHECK_WHY(!pattern_new(&a, deep, &fault), "100,000 are not");
    CHECK_TEXT(fault, "too many groups inside each other at character 101");
    fault = NULL;
    CHECK_WHY(!pattern_new(&a, repeat(&a, "", "(?=a)", 101, ""), &fault),
              "101 lookaheads");
    CHECK_TEXT(fault, "too many lookaheads at character 506");
    arena_release(&a);
}

/* Patterns that take others exponential time; the budget is what a linear
 * matcher needs. */
static void takes_linear_time(void)
{
    static const struct {
        const char *why, *pattern, *tail;
        bool matches;
    } rows[] = {
        { "nested plus", "^(a+)+$", "", true },
        { "nested plus that fails", "^(a+)+$", "!", false },
        { "nested star that fails", "^(a*)*b$", "!", false },
        { "alternatives that overlap", "^(a|aa)+$", "!", false },
        { "three stars", "^a*a*a*$", "!", false },
        { "not anchored", "(a+)+$", "!", false },
        { "any, twice", "(.*)(.*)x", "!", false },
        { "with counts", "^(a{1,5}){1,5}b", "!", false },
        { "in a lookahead", "^(?=(a+)+$)", "!", false },
        { "a lookahead at every place", "(?:a(?=a*$))+!", "!", false },
        { "in a lookbehind", "(?<=^(a+)+)!", "!", true },
    };
    enum { LETTERS = 100000 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a;
        const char *fault = NULL;
        size_t budget = (size_t)LETTERS * 80;
        arena_init(&a, mem_default());
        check_row(rows[i].why);
        struct slice text = repeat(&a, "", "a", LETTERS, rows[i].tail);
        const struct pattern *p = pattern_new(&a, slice_of(rows[i].pattern),
                                              &fault);
        CHECK_INT(p ? pattern_match(p, text, &a, &budget) : PATTERN_NOMEM,
                  rows[i].matches ? PATTERN_YES : PATTERN_NO);
        arena_release(&a);
    }
}

static void ends_with_its_budget(void)
{
    struct arena a;
    const char *fault = NULL;
    size_t budget = 1000;
    arena_init(&a, mem_default());
    struct slice text = repeat(&a, "", "a", 1000, "");
    const struct pattern *p = pattern_new(&a, SLICE("(a|b|c|d)*x"), &fault);
    if (CHECK(p)) {
        CHECK_INT(pattern_match(p, text, &a, &budget), PATTERN_TOO_LONG);
        CHECK_INT(budget, 0);
        budget = 1000;
        CHECK_INT(pattern_match(p, SLICE("abcx"), &a, &budget), PATTERN_YES);
        CHECK_WHY(budget > 0 && budget < 1000, "what was used is gone");
    }
    arena_release(&a);
}

/* ----------------------------------------------------------- by chance --- */

/* A pattern over a few letters, without anchors that a lookaround would see
 * differently. */
static void add_random(struct buf *b, struct random r, unsigned depth)
{
    static const char *const leaves[] = { "a", "b", ".", "[ab]", "[^a]",
                                          "\xC3\xA9", "\\w", "\\b", "" };
    static const char *const marks[] = { "*", "+", "?", "{2}", "{1,3}",
                                         "{2,}", "", "" };
    static const char *const opens[] = { "(", "(?:", "(?:(?=", "(?:(?<!" };
    for (uint64_t n = random_below(r, 3) + 1; n > 0; n--) {
        uint64_t kind = depth ? random_below(r, 4) : 0;
        uint64_t open = random_below(r, 4);
        if (kind < 2) {
            uint64_t leaf = random_below(r, 9);
            buf_text(b, leaves[leaf]);
            buf_text(b, leaf < 7 ? marks[random_below(r, 8)] : "");
            continue;
        }
        buf_text(b, opens[open]);
        add_random(b, r, depth - 1);
        if (kind == 3) {
            buf_byte(b, '|');
            add_random(b, r, depth - 1);
        }
        buf_text(b, open >= 2 ? "))" : ")");
        buf_text(b, marks[random_below(r, 8)]);
    }
}

static struct slice wrap(struct arena *a, const char *head,
                         struct slice pattern, const char *tail)
{
    return repeat(a, head, pattern.ptr, 1, tail);
}

/*
 * The same question put in other words, some of which are answered backwards,
 * some by a lookaround: the answers must agree.
 */
static void agrees_with_itself(void)
{
    static const char *const texts[] = { "", "a", "b", "ab", "ba", "aab",
                                         "\xC3\xA9", "a\xC3\xA9" "b",
                                         "abab b\xC3\xA9" "a" };
    struct random r = check_random();
    for (int i = 0; i < 2000; i++) {
        struct arena a;
        struct buf b;
        arena_init(&a, mem_default());
        buf_init(&b, &a, 1 << 20);
        add_random(&b, r, 3);
        struct slice p = buf_slice(&b);
        struct slice text = slice_of(texts[random_below(r, 9)]);
        enum pattern_result found = match(p, text);
        enum pattern_result not = found == PATTERN_YES ? PATTERN_NO
                                                       : PATTERN_YES;
        check_row(p.ptr);
        CHECK(found != PATTERN_NOMEM);
        CHECK_INT(match(wrap(&a, "(?=", p, ")"), text), found);
        CHECK_INT(match(wrap(&a, "(?<=", p, ")"), text), found);
        CHECK_INT(match(wrap(&a, "^[^]*(?:", p, ")[^]*$"), text), found);
        CHECK_INT(match(wrap(&a, "^(?![^]*(?:", p, "))"), text), not );
        CHECK_INT(match(wrap(&a, "$(?<!(?:", p, ")[^]*)"), text), not );
        arena_release(&a);
    }
}

TESTS = {
    TEST(finds_letters_anywhere),
    TEST(knows_anchors),
    TEST(knows_classes),
    TEST(knows_escapes),
    TEST(knows_properties),
    TEST(knows_groups_and_repeats),
    TEST(looks_around),
    TEST(refuses_with_words),
    TEST(limits_groups_and_looks),
    TEST_ONCE(takes_linear_time),
    TEST(ends_with_its_budget),
    TEST_ONCE(agrees_with_itself),
    TESTS_END
};
