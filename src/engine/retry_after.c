/*
 * retry_after.c - how long a provider asks to wait, in all spellings
 *
 *      Retry-After: 120                                RFC 9110, 10.2.3
 *      Retry-After: 1.5                                not in it, but sent
 *      Retry-After: 6m0s                               likewise
 *      Retry-After: Sun, 06 Nov 1994 08:49:37 GMT      RFC 9110, 5.6.7
 *      Retry-After: Sunday, 06-Nov-94 08:49:37 GMT
 *      Retry-After: Sun Nov  6 08:49:37 1994
 *      Retry-After-Ms: 1500
 *
 * Numbers too large for us mean "very long": they saturate.  What is finer
 * than a millisecond is rounded up, so that nobody comes too early.
 */
#include "engine/retry_after.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60000, HOUR_MS = 3600000 };
#define LAST_MS INT64_C(253402300799999)    /* the end of the year 9999 */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static struct slice trim(struct slice s)
{
    while (s.len && (*s.ptr == ' ' || *s.ptr == '\t'))
        s = slice_skip(s, 1);
    while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
        s.len--;
    return s;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(struct slice s, const char *name)
{
    size_t n = strlen(name);
    if (s.len != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (lower(s.ptr[i]) != name[i])
            return false;
    return true;
}

static int64_t add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int64_t times(int64_t a, int64_t b)
{
    return a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* -------------------------------------------------------------- durations --- */

/* Take a decimal number of units of that many milliseconds off *s. */
static bool take_number(struct slice *s, struct slice *whole,
                        struct slice *fraction)
{
    struct slice *part = whole;
    *whole = *fraction = (struct slice){ s->ptr, 0 };
    for (; s->len; *s = slice_skip(*s, 1)) {
        if (*s->ptr == '.' && part == whole) {
            part = fraction;
            part->ptr = s->ptr + 1;
        } else if (is_digit(*s->ptr)) {
            part->len++;
        } else {
            break;
        }
    }
    return whole->len > 0 && (part == whole || fraction->len > 0);
}

static int64_t in_ms(struct slice whole, struct slice fraction, int64_t unit)
{
    int64_t n = 0, rest = 0, scale = 1;
    for (size_t i = 0; i < whole.len; i++)
        n = add(times(n, 10), whole.ptr[i] - '0');
    bool more = false;          /* digits beyond what we count */
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
    return add(times(n, unit), part / scale + up);
}

/* Take "h", "m", "s" or "ms" off *s. */
static bool take_unit(struct slice *s, int64_t *unit)
{
    static const struct {
        struct slice word;
        int64_t ms;
    } units[] = {
        { { "ms", 2 }, 1 },
        { { "s", 1 }, SECOND_MS },
        { { "m", 1 }, MINUTE_MS },
        { { "h", 1 }, HOUR_MS },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (slice_starts(*s, units[i].word)) {
            *s = slice_skip(*s, units[i].word.len);
            *unit = units[i].ms;
            return true;
        }
    }
    return false;
}

/* A number of `unit`s, or, if `units` are allowed, several with their own. */
static bool read_duration(struct slice s, int64_t unit, bool units, int64_t *ms)
{
    struct slice whole, fraction;
    int64_t sum = 0;
    if (!take_number(&s, &whole, &fraction))
        return false;
    if (!s.len) {
        *ms = in_ms(whole, fraction, unit);
        return true;
    }
    for (;;) {
        if (!units || !take_unit(&s, &unit))
            return false;
        sum = add(sum, in_ms(whole, fraction, unit));
        if (!s.len)
            break;
        if (!take_number(&s, &whole, &fraction))
            return false;
    }
    *ms = sum;
    return true;
}

/* ------------------------------------------------------------------ dates --- */

struct date {
    int64_t year, month, day, hour, minute, second;
};

static bool take(struct slice *s, char c)
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
        if (!is_digit(*s->ptr))
            return false;
        *n = *n * 10 + (*s->ptr - '0');
    }
    return true;
}

/* One of the words, of which each is at least three letters long; its index
 * from 1, or 0.  The longer form of a day's name comes with `whole`. */
static int64_t take_word(struct slice *s, const char *const *words, bool whole)
{
    for (int64_t i = 0; words[i]; i++) {
        struct slice word = { words[i], whole ? strlen(words[i]) : 3 };
        if (slice_starts(*s, word)) {
            *s = slice_skip(*s, word.len);
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
    *month = take_word(s, months, false);
    return *month != 0;
}

static bool take_time(struct slice *s, struct date *d)
{
    return take_digits(s, 2, &d->hour) && take(s, ':') &&
           take_digits(s, 2, &d->minute) && take(s, ':') &&
           take_digits(s, 2, &d->second);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static bool read_fixdate(struct slice s, struct date *d, int64_t this_year)
{
    (void)this_year;
    return take_word(&s, days, false) && take(&s, ',') && take(&s, ' ') &&
           take_digits(&s, 2, &d->day) && take(&s, ' ') &&
           take_month(&s, &d->month) && take(&s, ' ') &&
           take_digits(&s, 4, &d->year) && take(&s, ' ') && take_time(&s, d) &&
           slice_is(s, " GMT");
}

/* "Sunday, 06-Nov-94 08:49:37 GMT"; the century is the one that brings the
 * year within 50 years of ours (RFC 9110, 5.6.7). */
static bool read_rfc850(struct slice s, struct date *d, int64_t this_year)
{
    if (!(take_word(&s, days, true) && take(&s, ',') && take(&s, ' ') &&
          take_digits(&s, 2, &d->day) && take(&s, '-') &&
          take_month(&s, &d->month) && take(&s, '-') &&
          take_digits(&s, 2, &d->year) && take(&s, ' ') && take_time(&s, d) &&
          slice_is(s, " GMT")))
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
    if (!(take_word(&s, days, false) && take(&s, ' ') &&
          take_month(&s, &d->month) && take(&s, ' ')))
        return false;
    size_t digits = take(&s, ' ') ? 1 : 2;
    return take_digits(&s, digits, &d->day) && take(&s, ' ') &&
           take_time(&s, d) && take(&s, ' ') && take_digits(&s, 4, &d->year) &&
           s.len == 0;
}

/* Days from 1970-01-01 in the Gregorian calendar, counted from March, so that
 * the leap day is a year's last (H. Hinnant, "chrono-compatible algorithms"). */
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

/* The year of a time; off by a day around New Year at most, which is enough
 * to guess a century. */
static int64_t year_of(int64_t unix_ms)
{
    return 1970 + unix_ms / INT64_C(31556952000);
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
        int64_t day = days_from_1970(d.year, d.month, d.day);
        int64_t at = ((day * 24 + d.hour) * 60 + d.minute) * 60 + d.second;
        int64_t wait = at * SECOND_MS - unix_ms;
        *ms = wait > 0 ? wait : 0;
        return true;
    }
    return false;
}

/* ----------------------------------------------------------------- public --- */

bool retry_after_parse(struct slice value, int64_t unix_ms, int64_t *ms)
{
    value = trim(value);
    if (unix_ms < 0 || unix_ms > LAST_MS)
        unix_ms = unix_ms < 0 ? 0 : LAST_MS;    /* a clock gone mad */
    return read_duration(value, SECOND_MS, true, ms) ||
           read_date(value, unix_ms, ms);
}

bool retry_after_header(struct slice name, struct slice value, int64_t unix_ms,
                        int64_t *ms)
{
    if (same_name(name, "retry-after-ms") ||
        same_name(name, "x-ms-retry-after-ms"))
        return read_duration(trim(value), 1, false, ms);
    return same_name(name, "retry-after") &&
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
            if (same_name(name, order[i]) &&
                retry_after_header(name, slice_of(header[2 * h + 1]), unix_ms,
                                   ms))
                return true;
        }
    return false;
}
