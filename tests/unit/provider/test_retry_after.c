/* test_retry_after.c - how long a provider asks to wait, in every format */
#include "provider/retry_after.h"

#include "harness/check.h"

#include <stdio.h>
#include <time.h>

/* Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110. */
#define THEN INT64_C(784111777000)
#define NONE (-1)

static const struct {
    const char *why, *value;
    int64_t ms;                 /* NONE: not usable */
} rows[] = {
    { "seconds", "120", 120000 },
    { "no seconds", "0", 0 },
    { "leading zeros", "007", 7000 },
    { "white space around", " \t5 ", 5000 },
    { "a decimal fraction", "1.5", 1500 },
    { "three digits", "0.125", 125 },
    { "a fraction is rounded up", "0.0001", 1 },
    { "zeros are not", "1.0000000000000", 1000 },
    { "far behind the point", "1.0000000000001", 1001 },
    { "many digits", "0.3333333333333333333333", 334 },
    { "too large for us", "99999999999999999999999", INT64_MAX },
    { "too large in milliseconds", "9223372036854775807", INT64_MAX },
    { "seconds with their unit", "45.837906927s", 45838 },
    { "milliseconds with theirs", "20ms", 20 },
    { "minutes and seconds", "6m0s", 360000 },
    { "hours", "1h2m3.5s", 3723500 },
    { "part of a minute", "1.5m", 90000 },
    { "nothing", "", NONE },
    { "white space", "  ", NONE },
    { "less than nothing", "-1", NONE },
    { "a sign", "+1", NONE },
    { "no digit before the point", ".5", NONE },
    { "none behind it", "5.", NONE },
    { "two points", "1.2.3", NONE },
    { "an exponent", "1e3", NONE },
    { "not a number", "nan", NONE },
    { "for ever", "inf", NONE },
    { "hexadecimal", "0x10", NONE },
    { "two values", "1, 2", NONE },
    { "a unit we do not know", "5d", NONE },
    { "a unit and no number", "s", NONE },
    { "a number behind a unit", "5s5", NONE },
    { "a comma for a point", "1,5", NONE },
    { "words", "soon", NONE },

    { "a date", "Sun, 06 Nov 1994 08:50:37 GMT", 60000 },
    { "the same as now", "Sun, 06 Nov 1994 08:49:37 GMT", 0 },
    { "in the past", "Sun, 06 Nov 1994 08:49:36 GMT", 0 },
    { "long ago", "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
    { "before our time", "Tue, 01 Jan 1901 00:00:00 GMT", 0 },
    { "the next day", "Mon, 07 Nov 1994 08:49:37 GMT", 86400000 },
    { "the next year", "Mon, 06 Nov 1995 08:49:37 GMT",
      INT64_C(365) * 86400000 },
    { "over a leap day", "Wed, 06 Nov 1996 08:49:37 GMT",
      INT64_C(731) * 86400000 },
    { "a leap second", "Sun, 06 Nov 1994 08:49:60 GMT", 23000 },
    { "the old form", "Sunday, 06-Nov-94 08:50:37 GMT", 60000 },
    { "the old form, next century", "Monday, 06-Nov-00 08:49:37 GMT",
      INT64_C(2192) * 86400000 },
    { "asctime's form", "Sun Nov  6 08:50:37 1994", 60000 },
    { "asctime's form, two digits", "Wed Nov 16 08:49:37 1994",
      INT64_C(10) * 86400000 },
    { "the wrong day of the week is not checked",
      "Mon, 06 Nov 1994 08:50:37 GMT", 60000 },
    { "another zone", "Sun, 06 Nov 1994 08:49:37 CET", NONE },
    { "no zone", "Sun, 06 Nov 1994 08:49:37", NONE },
    { "a day that is none", "Sun, 31 Nov 1994 08:49:37 GMT", NONE },
    { "no leap year", "Tue, 29 Feb 1994 08:49:37 GMT", NONE },
    { "day 0", "Sun, 00 Nov 1994 08:49:37 GMT", NONE },
    { "a month that is none", "Sun, 06 Foo 1994 08:49:37 GMT", NONE },
    { "hour 24", "Sun, 06 Nov 1994 24:00:00 GMT", NONE },
    { "minute 60", "Sun, 06 Nov 1994 08:60:00 GMT", NONE },
    { "second 61", "Sun, 06 Nov 1994 08:59:61 GMT", NONE },
    { "one digit for the day", "Sun, 6 Nov 1994 08:49:37 GMT", NONE },
    { "something behind", "Sun, 06 Nov 1994 08:49:37 GMT!", NONE },
    { "ISO 8601", "1994-11-06T08:49:37Z", NONE },
};

static void reads_every_spelling(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t ms = NONE;
        check_row(rows[i].why);
        bool usable = retry_after_parse(slice_of(rows[i].value), THEN, &ms);
        CHECK_INT(usable, rows[i].ms != NONE);
        CHECK_INT(ms, rows[i].ms);
    }
}

static void the_clock_counts_milliseconds(void)
{
    int64_t ms = NONE;
    struct slice date = SLICE("Sun, 06 Nov 1994 08:49:38 GMT");
    CHECK(retry_after_parse(date, THEN + 250, &ms));
    CHECK_INT(ms, 750);
    CHECK(retry_after_parse(date, INT64_MIN, &ms));
    CHECK_INT(ms, THEN + 1000);
    CHECK(retry_after_parse(date, INT64_MAX, &ms));
    CHECK_INT(ms, 0);
}

/* Two digits of a year: within 50 years of ours. */
static void centuries_are_guessed(void)
{
    static const struct {
        const char *why, *value;
        int64_t now, at;
    } guesses[] = {
        { "this year", "Saturday, 01-Jan-94 00:00:00 GMT", THEN, 757382400 },
        { "next century", "Saturday, 01-Jan-00 00:00:00 GMT",
          INT64_C(946684799000), 946684800 },
        { "2026 from 2025", "Thursday, 01-Jan-26 00:00:00 GMT",
          INT64_C(1764500000000), 1767225600 },
        { "2075 from 2025", "Tuesday, 01-Jan-75 00:00:00 GMT",
          INT64_C(1764500000000), INT64_C(3313526400) },
        { "1976 from 2025", "Thursday, 01-Jan-76 00:00:00 GMT",
          INT64_C(1764500000000), 189302400 },
    };
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        int64_t ms = NONE, want = guesses[i].at * 1000 - guesses[i].now;
        check_row(guesses[i].why);
        CHECK(
            retry_after_parse(slice_of(guesses[i].value), guesses[i].now, &ms));
        CHECK_INT(ms, want > 0 ? want : 0);
    }
}

/* Against the C library: every day of 140 years, in all forms. */
static void dates_are_as_the_library_has_them(void)
{
    for (int64_t day = 1; day < 365 * 140; day += 1) {
        time_t at = (time_t)(day * 86400 + day % 86400);
        struct tm tm;
        char text[64];
        int64_t ms = NONE;
        gmtime_r(&at, &tm);
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        CHECK(retry_after_parse(slice_of(text), 0, &ms));
        CHECK_INT(ms, (int64_t)at * 1000);
        strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &tm);
        ms = NONE;
        CHECK(retry_after_parse(slice_of(text), 0, &ms));
        CHECK_INT(ms, (int64_t)at * 1000);
    }
}

/* -------------------------------------------------------------- headers --- */

static void headers_are_known_by_name(void)
{
    static const struct {
        const char *name, *value;
        int64_t ms;
    } headers[] = {
        { "retry-after", "2", 2000 },
        { "Retry-After", "2", 2000 },
        { "RETRY-AFTER", "2", 2000 },
        { "retry-after-ms", "2", 2 },
        { "Retry-After-Ms", "1500.5", 1501 },
        { "x-ms-retry-after-ms", "40", 40 },
        { "retry-after-ms", "2s", NONE },
        { "retry-after-ms", "Sun, 06 Nov 1994 08:50:37 GMT", NONE },
        { "retry-after-ms", "", NONE },
        { "retry-afte", "2", NONE },
        { "retry-after-", "2", NONE },
        { "x-ratelimit-reset-requests", "6m0s", NONE },
        { "", "2", NONE },
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        int64_t ms = NONE;
        check_row(headers[i].name);
        CHECK_INT(retry_after_header(slice_of(headers[i].name),
                                     slice_of(headers[i].value), THEN, &ms),
                  headers[i].ms != NONE);
        CHECK_INT(ms, headers[i].ms);
    }
}

static void the_exact_header_counts_first(void)
{
    static const struct {
        const char *why;
        size_t count;
        const char *header[8];
        int64_t ms;
    } answers[] = {
        { "none", 0, { NULL }, NONE },
        { "no such header", 1, { "date", "5" }, NONE },
        { "one", 2, { "date", "5", "Retry-After", "3" }, 3000 },
        { "the exact one first", 2,
          { "Retry-After", "3", "Retry-After-Ms", "2500" }, 2500 },
        { "Azure's", 2,
          { "Retry-After", "3", "X-Ms-Retry-After-Ms", "2600" }, 2600 },
        { "one that cannot be used is passed over", 2,
          { "Retry-After-Ms", "soon", "Retry-After", "3" }, 3000 },
        { "the first of two", 2, { "retry-after", "3", "retry-after", "4" },
          3000 },
        { "none can be used", 2,
          { "retry-after", "x", "retry-after-ms", "y" }, NONE },
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        int64_t ms = NONE;
        check_row(answers[i].why);
        CHECK_INT(retry_after_find(answers[i].header, answers[i].count, THEN,
                                   &ms),
                  answers[i].ms != NONE);
        CHECK_INT(ms, answers[i].ms);
    }
}

/* Any bytes: no harm, and never a wait below 0. */
static void any_bytes_are_read(void)
{
    static const char alphabet[] = "0123456789.:,- smhGMTSunNovday";
    struct random r = check_random();
    for (int i = 0; i < 50000; i++) {
        char text[40];
        size_t n = random_below(r, sizeof text);
        for (size_t k = 0; k < n; k++)
            text[k] = alphabet[random_below(r, sizeof alphabet)];
        int64_t ms = 0;
        retry_after_parse((struct slice){ text, n }, THEN, &ms);
        CHECK(ms >= 0);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slice whole = slice_of(rows[i].value);
        for (size_t n = 0; n < whole.len; n++) {
            int64_t ms = 0;
            retry_after_parse((struct slice){ whole.ptr, n }, THEN, &ms);
            CHECK(ms >= 0);
        }
    }
}

TESTS = {
    TEST(reads_every_spelling),
    TEST(the_clock_counts_milliseconds),
    TEST(centuries_are_guessed),
    TEST_ONCE(dates_are_as_the_library_has_them),
    TEST(headers_are_known_by_name),
    TEST(the_exact_header_counts_first),
    TEST_ONCE(any_bytes_are_read),
    TESTS_END
};
