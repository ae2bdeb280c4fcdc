/* test_number.c - numbers are read and written without loss */
#include "json/number.h"

#include "base/buf.h"
#include "harness/check.h"

#include <locale.h>
#include <math.h>

/* -------------------------------------------------------------- reading --- */

struct reading {
    const char *text;
    allm_json_type type;
    const char *written;
};

static const struct reading readings[] = {
    { "0", ALLM_JSON_INT, "0" },
    { "-1", ALLM_JSON_INT, "-1" },
    { "1234567890123456789", ALLM_JSON_INT, "1234567890123456789" },
    { "18446744073709551615", ALLM_JSON_INT, "18446744073709551615" },
    { "18446744073709551616", ALLM_JSON_BIG, "18446744073709551616" },
    { "-9223372036854775808", ALLM_JSON_INT, "-9223372036854775808" },
    { "-9223372036854775809", ALLM_JSON_BIG, "-9223372036854775809" },
    { "100000000000000000000", ALLM_JSON_BIG, "100000000000000000000" },
    { "-0", ALLM_JSON_REAL, "-0.0" },
    { "-0e5", ALLM_JSON_REAL, "-0.0" },
    { "0.0", ALLM_JSON_REAL, "0.0" },
    { "0e999999", ALLM_JSON_REAL, "0.0" },
    { "0e-999999", ALLM_JSON_REAL, "0.0" },
    { "0.1", ALLM_JSON_REAL, "0.1" },
    { "0.10000000000000001", ALLM_JSON_BIG, "0.10000000000000001" },
    { "0.100000000000000001", ALLM_JSON_BIG, "0.100000000000000001" },
    { "0.100000000000000000", ALLM_JSON_REAL, "0.1" },
    { "0.000000000000000000001", ALLM_JSON_REAL, "1e-21" },
    { "123456789.123456789", ALLM_JSON_BIG, "123456789.123456789" },
    { "12345678.123456789", ALLM_JSON_BIG, "12345678.123456789" },
    { "1234567.123456789", ALLM_JSON_REAL, "1234567.123456789" },
    { "9007199254740993.0", ALLM_JSON_BIG, "9007199254740993.0" },
    { "9007199254740992.0", ALLM_JSON_REAL, "9007199254740992.0" },
    { "0.30000000000000004", ALLM_JSON_REAL, "0.30000000000000004" },
    { "30000000000000004e-17", ALLM_JSON_REAL, "0.30000000000000004" },
    { "-0.006929283495992422", ALLM_JSON_REAL, "-0.006929283495992422" },
    { "1234567890123456789e0", ALLM_JSON_BIG, "1234567890123456789e0" },
    { "12345678901234567e2", ALLM_JSON_BIG, "12345678901234567e2" },
    { "1e308", ALLM_JSON_REAL, "1e308" },
    { "1.7976931348623157e308", ALLM_JSON_REAL, "1.7976931348623157e308" },
    { "1.7976931348623159e308", ALLM_JSON_BIG, "1.7976931348623159e308" },
    { "1E400", ALLM_JSON_BIG, "1E400" },
    { "-1e+400", ALLM_JSON_BIG, "-1e+400" },
    { "2.2250738585072014e-308", ALLM_JSON_REAL, "2.2250738585072014e-308" },
    { "5e-324", ALLM_JSON_REAL, "5e-324" },
    { "4e-324", ALLM_JSON_BIG, "4e-324" },
    { "1.23e-320", ALLM_JSON_REAL, "1.23e-320" },
    { "1.2345e-320", ALLM_JSON_BIG, "1.2345e-320" },
    { "1e-400", ALLM_JSON_BIG, "1e-400" },
    { "-1e-999999999999999999999", ALLM_JSON_BIG,
      "-1e-999999999999999999999" },
};

/* A number is read the same alone, in an array, and next to any other. */
static void reads_each_the_same_everywhere(void)
{
    static const char *const contexts[] = {
        "%s", "[%s]", "{\"n\":%s}", "[%s,0.12345678901234567890]",
        "[1e-999,%s]", "[\"1.234567890123456789012345\",%s , 0.0]",
        "[123456789012345678901234567890,%s]",
    };
    struct arena a;
    arena_init(&a, mem_default());
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        const struct reading *row = &readings[i];
        check_row(row->text);
        for (size_t c = 0; c < sizeof contexts / sizeof *contexts; c++) {
            struct buf text;
            const char *hole = strstr(contexts[c], "%s");
            buf_init(&text, &a, 4096);
            buf_add(&text, (struct slice){ contexts[c],
                                           (size_t)(hole - contexts[c]) });
            buf_text(&text, row->text);
            buf_text(&text, hole + 2);
            allm_json *v = allm_json_parse(text.ptr, text.len, NULL);
            const allm_json *n = v;
            if (allm_json_type_of(v) == ALLM_JSON_OBJECT)
                n = allm_json_get(v, "n");
            else if (allm_json_type_of(v) == ALLM_JSON_ARRAY)
                n = allm_json_at(v, c == 4 || c == 5 || c == 6);
            CHECK_INT(allm_json_type_of(n), row->type);
            allm_text *t = allm_json_write(n, 0);
            CHECK_TEXT(allm_text_bytes(t, NULL), row->written);
            allm_text_free(t);
            allm_json_free(v);
        }
    }
    arena_release(&a);
}

/* A number is written as an equal number, if not as the same text. */
static void no_number_changes(void)
{
    struct random r = check_random();
    for (int i = 0; i < 20000; i++) {
        char text[64];
        size_t n = 0;
        if (random_below(r, 2))
            text[n++] = '-';
        text[n++] = (char)('1' + random_below(r, 9));
        for (uint64_t d = random_below(r, 20); d > 0; d--)
            text[n++] = (char)('0' + random_below(r, 10));
        if (random_below(r, 4)) {
            text[n++] = '.';
            for (uint64_t d = 1 + random_below(r, 18); d > 0; d--)
                text[n++] = (char)('0' + random_below(r, 10));
        }
        if (random_below(r, 3) == 0) {
            text[n++] = 'e';
            text[n++] = random_below(r, 2) ? '-' : '+';
            for (uint64_t d = 1 + random_below(r, 3); d > 0; d--)
                text[n++] = (char)('0' + random_below(r, 10));
        }
        text[n] = '\0';
        check_row(text);
        allm_json *v = allm_json_parse(text, n, NULL);
        allm_text *written = allm_json_write(v, 0);
        yyjson_val before = { .tag = (uint64_t)n << 8 | YYJSON_TYPE_RAW,
                              .uni.str = text };
        size_t len;
        const char *bytes = allm_text_bytes(written, &len);
        yyjson_val after = { .tag = (uint64_t)len << 8 | YYJSON_TYPE_RAW,
                             .uni.str = bytes };
        CHECK(!allm_json_error(v));
        CHECK(bytes && number_compare(&before, &after) == 0);
        allm_text_free(written);
        allm_json_free(v);
    }
}

/* ------------------------------------------------------------ comparing --- */

static void compares_by_value(void)
{
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {
        { "1", "1", 0 },
        { "1", "2", -1 },
        { "-1", "1", -1 },
        { "-1", "-2", 1 },
        { "-9223372036854775808", "18446744073709551615", -1 },
        { "9223372036854775807", "9223372036854775808", -1 },
        { "1", "1.0", 0 },
        { "1000", "1e3", 0 },
        { "0", "-0.0", 0 },
        { "-0.0", "0.0", 0 },
        { "0.1", "0.2", -1 },
        { "2", "1.5", 1 },
        { "-2", "-1.5", -1 },
        { "9007199254740993", "9007199254740992.0", 1 },
        { "1e400", "10e399", 0 },
        { "1e400", "0.1e401", 0 },
        { "1e400", "1e401", -1 },
        { "-1e400", "1e400", -1 },
        { "-1e400", "-1e401", 1 },
        { "1e400", "5", 1 },
        { "1e400", "1e308", 1 },
        { "1e-400", "0", 1 },
        { "-1e-400", "0", -1 },
        { "1e-400", "0.0", 1 },
        { "1e-400", "1e-401", 1 },
        { "18446744073709551616", "18446744073709551615", 1 },
        { "18446744073709551615.0", "18446744073709551615", 0 },
        { "100000000000000000000", "1e20", 0 },
        { "123456789012345678901234567890", "123456789012345678901234567891",
          -1 },
        { "0.12345678901234567890", "0.1234567890123456789", 0 },
        { "0.12345678901234567891", "0.1234567890123456789", 1 },
        { "1e99999999999999999999", "1e99999999999999999999", 0 },
        { "1e99999999999999999999", "1e99999999999999999998", 1 },
        { "1e99999999999999999999", "1e400", 1 },
        { "1e-99999999999999999999", "1e-400", -1 },
        { "1e-99999999999999999999", "0", 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].a);
        allm_json *a = allm_json_parse(rows[i].a, ALLM_NUL_ENDED, NULL);
        allm_json *b = allm_json_parse(rows[i].b, ALLM_NUL_ENDED, NULL);
        if (a && b) {
            int order = number_compare(val_of(a), val_of(b));
            int back = number_compare(val_of(b), val_of(a));
            CHECK_INT((order > 0) - (order < 0), rows[i].order);
            CHECK_INT((back > 0) - (back < 0), -rows[i].order);
        }
        CHECK(allm_json_equal(a, b) == (rows[i].order == 0));
        allm_json_free(a);
        allm_json_free(b);
    }
}

static void the_nearest_double_of_a_big_one(void)
{
    static const struct {
        const char *text;
        double want;
    } rows[] = {
        { "1e400", HUGE_VAL },
        { "-1e400", -HUGE_VAL },
        { "1e-400", 0 },
        { "123456789012345678901234567890", 123456789012345678901234567890.0 },
        { "-18446744073709551616", -18446744073709551616.0 },
        { "3.14159265358979323846", 3.14159265358979323846 },
        { "4e-324", 5e-324 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_row(rows[i].text);
        allm_json *v = allm_json_parse(rows[i].text, ALLM_NUL_ENDED, NULL);
        CHECK_INT(allm_json_type_of(v), ALLM_JSON_BIG);
        CHECK(allm_json_number(v) == rows[i].want);
        allm_json_free(v);
    }
}

/* A comma for a point, as in German, must change nothing. */
static void the_locale_does_not_matter(void)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") &&
        !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        check_skip("no locale with a decimal comma is installed");
    allm_json *v = allm_json_parse("[1.5,0.12345678901234567890]",
                                   ALLM_NUL_ENDED, NULL);
    CHECK(allm_json_number(allm_json_at(v, 0)) == 1.5);
    CHECK(fabs(allm_json_number(allm_json_at(v, 1)) - 0.1234567890123) < 1e-9);
    allm_text *t = allm_json_write(v, 0);
    CHECK_TEXT(allm_text_bytes(t, NULL), "[1.5,0.12345678901234567890]");
    allm_text_free(t);
    allm_json_free(v);
    setlocale(LC_NUMERIC, "C");
}

/* Every finite double comes back bit by bit. */
static void doubles_round_trip(void)
{
    struct random r = check_random();
    for (int i = 0; i < 20000; i++) {
        yyjson_val v = { .tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL,
                         .uni.u64 = random_below(r, UINT64_MAX) };
        if (i & 1)              /* more of the small ones */
            v.uni.u64 &= 0x800FFFFFFFFFFFFFu;
        if (!isfinite(v.uni.f64))
            continue;
        char text[NUMBER_ROOM];
        size_t n = number_write(&v, text);
        allm_json *again = allm_json_parse(text, n, NULL);
        double x = allm_json_number(again);
        CHECK_INT(allm_json_type_of(again), ALLM_JSON_REAL);
        CHECK(!memcmp(&x, &v.uni.f64, sizeof x));
        allm_json_free(again);
    }
}

TESTS = {
    TEST(reads_each_the_same_everywhere),
    TEST_ONCE(no_number_changes),
    TEST(compares_by_value),
    TEST(the_nearest_double_of_a_big_one),
    TEST(the_locale_does_not_matter),
    TEST_ONCE(doubles_round_trip),
    TESTS_END
};
