/*
 * retry_after.c - parse how long a provider asks us to wait, in all forms
 *
 *      Retry-After: 120                                RFC 9110, 10.2.3
 *      Retry-After: 1.5                                not standard, but sent
 *      Retry-After: 6m0s                               likewise
 *      Retry-After: Sun, 06 Nov 1994 08:49:37 GMT      RFC 9110, 5.6.7
 *      Retry-After: Sunday, 06-Nov-94 08:49:37 GMT
 *      Retry-After: Sun Nov  6 08:49:37 1994
 *      1994-11-06T08:49:37Z                            RFC 3339, of quotas
 *      Retry-After-Ms: 1500
 *
 * Numbers that are too large saturate.  Fractions of a millisecond are rounded
 * up, so we never retry too early.
 */
#include "provider/retry_after.h"

#include "base/clock.h"
#include "base/nocase.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60000, HOUR_MS = 3600000 };
#define LAST_MS INT64_C(253402300799999)    /* the end of the year 9999 */

static struct slice trim_blanks(struct slice s)
{
    while (s.len && (*s.ptr == ' ' || *s.ptr == '\t'))
        s = slice_skip(s, 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

static int64_t multiply_saturated(int64_t a, int64_t b)
{
    return a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* ---------------------------------------------------------- durations --- */

/* Remove a decimal number from *s, and split it at the decimal point. */
static bool take_number(struct slice *s, struct slice *whole,
                        struct slice *fraction)
{
    struct slice *part = whole;
    *whole = *fraction = (struct slice){ s->ptr, 0 };
    for (; s->len; *s = slice_skip(*s, 1)) {
        if (*s->ptr == '.' && part == whole) {
            part = fraction;
            part->ptr = s->ptr + 1;
        } else if (slice_digit(*s->ptr)) {
            part->len++;
        } else {
            break;
        }
    }
    return whole->len > 0 && (part == whole || fraction->len > 0);
}

static int64_t duration_ms(struct slice whole, struct slice fraction,
                           int64_t unit)
{
    int64_t n = 0, rest = 0, scale = 1;
    for (size_t i = 0; i < whole.len; i++)
        n = clock_add(multiply_saturated(n, 10), whole.ptr[i] - '0');
    bool more = false;          /* digits beyond those we count */
    for (size_t i = 0; i < fraction.len; i++) {
        if (scale < INT64_C(1000000000)) {
            rest = rest * 10 + (fraction.ptr[i] - '0');
            scale *= 10;
        } else {
            more = more || fraction.ptr[i] != '0';
        }
    }
    int64_t part = rest * unit; /* below 10^9 hours in ms: no overflow */
    int64_t up = part % scale != 0 || more;
    return clock_add(multiply_saturated(n, unit), part / scale + up);
}

/* Remove "h", "m", "s" or "ms" from *s. */
static bool take_unit(struct slice *s, int64_t *unit)
{
    static const struct {
        struct slice name;
        int64_t ms;
    } units[] = {
        { { "ms", 2 }, 1 },
        { { "s", 1 }, SECOND_MS },
        { { "m", 1 }, MINUTE_MS },
        { { "h", 1 }, HOUR_MS },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (slice_starts(*s, units[i].name)) {
            *s = slice_skip(*s, units[i].name.len);
            *unit = units[i].ms;
            return true;
        }
    }
    return false;
}

/* Either a number of `unit`s or, if `units` is set, numbers with units. */
static bool read_duration(struct slice s, int64_t unit, bool units, int64_t *ms)
{
    struct slice whole, fraction;
    int64_t sum = 0;
    if (!take_number(&s, &whole, &fraction))
        return false;
    if (!s.len) {
        *ms = duration_ms(whole, fraction, unit);
        return true;
    }
    for (;;) {
        if (!units || !take_unit(&s, &unit))
            return false;
        sum = clock_add(sum, duration_ms(whole, fraction, unit));
        if (!s.len)
            break;
        if (!take_number(&s, &whole, &fraction))
            return false;
    }
    *ms = sum;
    return true;
}

/* -------------------------------------------------------------- dates --- */

struct date {
    int64_t year, month, day, hour, minute, second;
};

static bool take_char(struct slice *s, char c)
{
    if (!s->len || *s->ptr != c)
        return false;
    *s = slice_skip(*s, 1);
    return true;
}

static bool take_digits(struct slice *s, size_t count, int64_t *n)
{
    *n = 0;
    if (s->len < count)
        return false;
    for (; count; count--, *s = slice_skip(*s, 1)) {
        if (!slice_digit(*s->ptr))
            return false;
        *n = *n * 10 + (*s->ptr - '0');
    }
    return true;
}

/* Remove one of the names from *s; returns its index from 1, or 0.  Only the
 * first three letters count, unless `whole` is set. */
static int64_t take_name(struct slice *s, const char *const *names, bool whole)
{
    for (int64_t i = 0; names[i]; i++) {
        struct slice name = { names[i], whole ? strlen(names[i]) : 3 };
        if (slice_starts(*s, name)) {
            *s = slice_skip(*s, name.len);
            return i + 1;
        }
    }
    return 0;
}

static const char *const days[] = { "Sunday",    "Monday",   "Tuesday",
                                    "Wednesday", "Thursday", "Friday",
                                    "Saturday",  NULL };
static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May",
                                      "Jun", "Jul", "Aug", "Sep", "Oct",
                                      "Nov", "Dec", NULL };

static bool take_month(struct slice *s, int64_t *month)
{
    *month = take_name(s, months, false);
    return *month != 0;
}

static bool take_time(struct slice *s, struct date *d)
{
    return take_digits(s, 2, &d->hour) && take_char(s, ':') &&
           take_digits(s, 2, &d->minute) && take_char(s, ':') &&
           take_digits(s, 2, &d->second);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool read_fixdate(struct slice s, struct date *d, int64_t this_year)
{
    (void)this_year;
    return take_name(&s, days, false) && take_char(&s, ',') &&
           take_char(&s, ' ') && take_digits(&s, 2, &d->day) &&
           take_char(&s, ' ') && take_month(&s, &d->month) &&
           take_char(&s, ' ') && take_digits(&s, 4, &d->year) &&
           take_char(&s, ' ') && take_time(&s, d) && slice_is(s, " GMT");
}

/* "Sunday, 06-Nov-94 08:49:37 GMT".  The century is chosen such that the year
 * is within 50 years of the current one (RFC 9110, 5.6.7). */
static bool read_rfc850(struct slice s, struct date *d, int64_t this_year)
{
    if (!(take_name(&s, days, true) && take_char(&s, ',') &&
          take_char(&s, ' ') && take_digits(&s, 2, &d->day) &&
          take_char(&s, '-') && take_month(&s, &d->month) &&
          take_char(&s, '-') && take_digits(&s, 2, &d->year) &&
          take_char(&s, ' ') && take_time(&s, d) && slice_is(s, " GMT")))
        return false;
    d->year += this_year - this_year % 100;
    if (d->year > this_year + 50)
        d->year -= 100;
    else if (d->year <= this_year - 50)
        d->year += 100;
    return true;
}

/* "Sun Nov  6 08:49:37 1994" */
static bool read_asctime(struct slice s, struct date *d, int64_t this_year)
{
    (void)this_year;
    if (!(take_name(&s, days, false) && take_char(&s, ' ') &&
          take_month(&s, &d->month) && take_char(&s, ' ')))
        return false;
    size_t digits = take_char(&s, ' ') ? 1 : 2;
    return take_digits(&s, digits, &d->day) && take_char(&s, ' ') &&
           take_time(&s, d) && take_char(&s, ' ') &&
           take_digits(&s, 4, &d->year) && s.len == 0;
}

/* "1994-11-06T08:49:37Z" */
static bool read_rfc3339(struct slice s, struct date *d)
{
    int64_t digit;
    if (!(take_digits(&s, 4, &d->year) && take_char(&s, '-') &&
          take_digits(&s, 2, &d->month) && take_char(&s, '-') &&
          take_digits(&s, 2, &d->day) && take_char(&s, 'T') &&
          take_time(&s, d)))
        return false;
    if (take_char(&s, '.'))
        while (take_digits(&s, 1, &digit))
            continue;
    return d->month >= 1 && d->month <= 12 && slice_is(s, "Z");
}

/* Days since 1970-01-01 in the Gregorian calendar.  Years start in March, so
 * that the leap day is the last of a year
 * (H. Hinnant, "chrono-compatible algorithms"). */
static int64_t days_from_1970(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400;
    int64_t of_era = y - era * 400;
    int64_t from_march = (month + 9) % 12;
    int64_t of_year = (153 * from_march + 2) / 5 + day - 1;
    int64_t all = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146097 + all - 719468;
}

static int64_t days_in(int64_t year, int64_t month)
{
    int64_t next = month == 12 ? 1 : month + 1;
    return days_from_1970(month == 12 ? year + 1 : year, next, 1) -
           days_from_1970(year, month, 1);
}

static bool date_exists(const struct date *d)
{
    return d->day >= 1 && d->day <= days_in(d->year, d->month) &&
           d->hour <= 23 && d->minute <= 59 && d->second <= 60;
}

/* The year of a time.  It can be wrong by a day around New Year, which is good
 * enough to guess a century. */
static int64_t year_of(int64_t unix_ms)
{
    return 1970 + unix_ms / INT64_C(31556952000);
}

/* How long it is until a date. */
static int64_t until_date(const struct date *d, int64_t unix_ms)
{
    int64_t day = days_from_1970(d->year, d->month, d->day);
    int64_t at = ((day * 24 + d->hour) * 60 + d->minute) * 60 + d->second;
    int64_t wait = at * SECOND_MS - unix_ms;
    return wait > 0 ? wait : 0;
}

static bool read_date(struct slice s, int64_t unix_ms, int64_t *ms)
{
    static bool (*const forms[])(struct slice, struct date *,
                                 int64_t) = {
        read_fixdate, read_rfc850, read_asctime
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct date d;
        if (!forms[i](s, &d, year_of(unix_ms)) || !date_exists(&d))
            continue;
        *ms = until_date(&d, unix_ms);
        return true;
    }
    return false;
}

/* ------------------------------------------------------------ headers --- */

bool retry_after_parse(struct slice value, int64_t unix_ms, int64_t *ms)
{
    value = trim_blanks(value);
    if (unix_ms < 0 || unix_ms > LAST_MS)
        unix_ms = unix_ms < 0 ? 0 : LAST_MS;    /* the clock is wrong */
    return read_duration(value, SECOND_MS, true, ms) ||
           read_date(value, unix_ms, ms);
}

bool retry_after_reset(struct slice value, int64_t unix_ms, int64_t *ms)
{
    struct date d;
    if (retry_after_parse(value, unix_ms, ms))
        return true;
    if (!read_rfc3339(trim_blanks(value), &d) || !date_exists(&d))
        return false;
    *ms = until_date(&d, unix_ms);
    return true;
}

bool retry_after_header(struct slice name, struct slice value, int64_t unix_ms,
                        int64_t *ms)
{
    if (nocase_is(name, "retry-after-ms") ||
        nocase_is(name, "x-ms-retry-after-ms"))
        return read_duration(trim_blanks(value), 1, false, ms);
    return nocase_is(name, "retry-after") &&
           retry_after_parse(value, unix_ms, ms);
}

bool retry_after_find(const char *const *header, size_t count, int64_t unix_ms,
                      int64_t *ms)
{
    static const char *const order[] = { "retry-after-ms",
                                         "x-ms-retry-after-ms",
                                         "retry-after" };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (size_t h = 0; h < count; h++) {
            struct slice name = slice_of(header[2 * h]);
            if (nocase_is(name, order[i]) &&
                retry_after_header(name, slice_of(header[2 * h + 1]), unix_ms,
                                   ms))
                return true;
        }
    return false;
}
