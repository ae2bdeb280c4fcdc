/*
 * number.c - read, compare and write numbers without loss
 *
 * Integers are read here; everything else is read by yyjson, which finds the
 * nearest double.  A decimal with up to 15 digits survives the conversion to a
 * double, unless it is close to zero.  For others we check what the double
 * would be written as, and keep the text if that is a different number.
 *
 * Two numbers are compared as decimals:
 *
 *      -12.50e3    negative, digits 125, point 5:  - 0.125 * 10^5
 */
#include "json/number.h"

#include <float.h>
#include <math.h>

enum { SAFE_DIGITS = 15 };      /* any decimal of so many survives a double */

static bool in_run(char c)
{
    return slice_digit(c) || c == '.';
}

static bool is_e(char c)
{
    return c == 'e' || c == 'E';
}

static bool is_zero_or_point(char c)
{
    return c == '0' || c == '.';
}

/* The number of digits from the first non-zero one to the last. */
static size_t significant(struct slice digits)
{
    const char *from = digits.ptr, *end = from + digits.len;
    while (from < end && is_zero_or_point(*from))
        from++;
    while (from < end && is_zero_or_point(end[-1]))
        end--;
    size_t n = (size_t)(end - from);
    return n - (memchr(from, '.', n) != NULL);
}

/* -------------------------------------------------------- the decimal --- */

/* The exponent at s ("e-12"), or 0; *far if it is beyond 10^15. */
static int64_t exponent_of(struct slice s, bool *far)
{
    int64_t n = 0;
    bool negative = s.len > 1 && s.ptr[1] == '-';
    for (size_t i = 1; i < s.len; i++) {
        if (!slice_digit(s.ptr[i]))
            continue;
        if (n < 1000000000000000)
            n = n * 10 + (s.ptr[i] - '0');
        else
            *far = true;
    }
    return negative ? -n : n;
}

/* The text must be a valid JSON number. */
static void read_decimal(struct decimal *d, struct slice text)
{
    d->negative = text.ptr[0] == '-';
    d->far = false;
    d->count = 0;
    d->point = 0;
    size_t i = d->negative, kept = 0;
    bool fraction = false;
    for (; i < text.len && in_run(text.ptr[i]); i++) {
        char c = text.ptr[i];
        if (c == '.') {
            fraction = true;
            continue;
        }
        if (kept == 0 && c == '0') {
            d->point -= fraction;
            continue;
        }
        d->point += !fraction;
        if (kept < sizeof d->digits)
            d->digits[kept++] = c;
        if (c != '0')
            d->count = kept;
    }
    d->point += exponent_of(slice_skip(text, i), &d->far);
    if (d->count == 0)
        d->point = 0, d->far = false;
}

static int compare_sizes(const struct decimal *a, const struct decimal *b)
{
    if (a->count == 0 || b->count == 0)
        return (a->count != 0) - (b->count != 0);
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    size_t n = a->count < b->count ? a->count : b->count;
    int order = memcmp(a->digits, b->digits, n);
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static int compare_texts(struct slice a, struct slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = memcmp(a.ptr, b.ptr, n);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_decimals(struct slice a, struct slice b)
{
    struct decimal x, y;
    read_decimal(&x, a);
    read_decimal(&y, b);
    if (x.far && y.far)         /* only equal if they are the same text */
        return compare_texts(a, b);
    if (x.negative != y.negative && (x.count || y.count))
        return x.negative ? -1 : 1;
    return x.negative ? compare_sizes(&y, &x) : compare_sizes(&x, &y);
}

/* ------------------------------------------------------------- values --- */

static bool is_number(const yyjson_val *v)
{
    return val_type(v) == YYJSON_TYPE_NUM;
}

static bool is_real(const yyjson_val *v)
{
    return is_number(v) && val_subtype(v) == YYJSON_SUBTYPE_REAL;
}

static bool is_negative_int(const yyjson_val *v)
{
    return val_subtype(v) == YYJSON_SUBTYPE_SINT;
}

static bool is_int(const yyjson_val *v)
{
    return is_number(v) && val_subtype(v) != YYJSON_SUBTYPE_REAL;
}

struct slice number_text(const yyjson_val *v, char room[NUMBER_ROOM])
{
    if (val_type(v) == YYJSON_TYPE_RAW)
        return val_slice(v);
    return (struct slice){ room, number_write(v, room) };
}

void number_decimal(struct decimal *d, const yyjson_val *v)
{
    char room[NUMBER_ROOM];
    read_decimal(d, number_text(v, room));
}

int number_compare(const yyjson_val *a, const yyjson_val *b)
{
    char room_a[NUMBER_ROOM], room_b[NUMBER_ROOM];
    if (is_real(a) && is_real(b))
        return (a->uni.f64 > b->uni.f64) - (a->uni.f64 < b->uni.f64);
    if (!is_int(a) || !is_int(b))
        return compare_decimals(number_text(a, room_a), number_text(b, room_b));
    if (is_negative_int(a) != is_negative_int(b))
        return is_negative_int(a) ? -1 : 1;
    /* For two negative numbers, too, the larger pattern is the larger
     * number. */
    return (a->uni.u64 > b->uni.u64) - (a->uni.u64 < b->uni.u64);
}

/* ------------------------------------------------------------ reading --- */

static char *skip_digits(char *at)
{
    while (slice_digit(*at))
        at++;
    return at;
}

static void keep_text(yyjson_val *v, const char *at, const char *end)
{
    v->tag = (uint64_t)(end - at) << YYJSON_TAG_BIT | YYJSON_TYPE_RAW;
    v->uni.str = at;
}

/* Is the double, when written, this decimal number again? */
static bool double_holds(const yyjson_val *real, struct slice text)
{
    char room[NUMBER_ROOM];
    struct slice shortest = { room, number_write(real, room) };
    return slice_eq(shortest, text) || compare_decimals(shortest, text) == 0;
}

/* Store a double if it is as exact as the text, which has these digits. */
static void settle_real(yyjson_val *v, struct slice text, struct slice digits)
{
    yyjson_val n;
    keep_text(v, text.ptr, text.ptr + text.len);
    if (!yyjson_read_number(text.ptr, &n, YYJSON_READ_BIGNUM_AS_RAW, NULL,
                            NULL) ||
        !is_real(&n))
        return;
    bool tiny = fabs(n.uni.f64) < DBL_MIN;
    if ((!tiny && significant(digits) <= SAFE_DIGITS) || double_holds(&n, text))
        *v = n;
}

/* The rest of a number that has a decimal point or an exponent at p. */
static char *read_real(char *at, char *p, yyjson_val *v, const char **expected)
{
    if (*p == '.') {
        p++;
        if (!slice_digit(*p)) {
            *expected = "expected a digit behind the point";
            return p;
        }
        p = skip_digits(p);
    }
    char *digits_end = p;
    if (is_e(*p)) {
        p++;
        p += *p == '+' || *p == '-';
        if (!slice_digit(*p)) {
            *expected = "expected a digit in the exponent";
            return p;
        }
        p = skip_digits(p);
    }
    size_t sign = *at == '-';
    settle_real(v, (struct slice){ at, (size_t)(p - at) },
                (struct slice){ at + sign, (size_t)(digits_end - at) - sign });
    return p;
}

/* An integer of `count` digits, whose value modulo 2^64 is n. */
static void settle_int(yyjson_val *v, struct slice text, size_t count,
                       uint64_t n, bool negative)
{
    const uint64_t ten_19 = 10000000000000000000u;
    bool fits = count < 20 || (count == 20 && text.ptr[negative] == '1' &&
                               n >= ten_19);    /* it did not wrap */
    if (!fits || (negative && n > (uint64_t)INT64_MAX + 1))
        keep_text(v, text.ptr, text.ptr + text.len);
    else if (!negative)
        *v = (yyjson_val){ .tag = YYJSON_TYPE_NUM, .uni.u64 = n };
    else if (n)
        *v = (yyjson_val){ .tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT,
                           .uni.u64 = 0 - n };
    else
        *v = (yyjson_val){ .tag = YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL,
                           .uni.f64 = -0.0 };
}

char *number_read(char *at, yyjson_val *v, const char **expected)
{
    bool negative = *at == '-';
    char *first = at + negative, *p = first;
    uint64_t n = 0;
    for (; slice_digit(*p); p++)
        n = n * 10 + (uint64_t)(*p - '0');
    size_t count = (size_t)(p - first);
    if (count == 0) {
        *expected = "expected a digit";
        return p;
    }
    if (*first == '0' && count > 1) {
        *expected = "expected no digit behind a 0 that begins a number";
        return first + 1;
    }
    if (*p == '.' || is_e(*p))
        return read_real(at, p, v, expected);
    settle_int(v, (struct slice){ at, (size_t)(p - at) }, count, n, negative);
    return p;
}

/* ------------------------------------------------------------- asking --- */

double number_double(const yyjson_val *v)
{
    yyjson_val n = *v;
    if (val_type(v) == YYJSON_TYPE_RAW) {
        if (!yyjson_read_number(v->uni.str, &n, YYJSON_READ_ALLOW_INF_AND_NAN,
                                NULL, NULL))
            return v->uni.str[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    }
    if (!is_number(&n))
        return 0;
    if (is_real(&n))
        return n.uni.f64;
    return is_negative_int(&n) ? (double)n.uni.i64 : (double)n.uni.u64;
}

bool number_digits(const struct decimal *d, size_t n, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = i < d->count ? (uint64_t)(d->digits[i] - '0') : 0;
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *out = sum;
    return true;
}

/* The magnitude of a number that is whole and not too big, and its sign. */
static bool whole_decimal(const yyjson_val *v, uint64_t *size, bool *negative)
{
    struct decimal d;
    read_decimal(&d, val_slice(v));
    *negative = d.negative;
    return !d.far && d.point <= 20 && (int64_t)d.count <= d.point &&
           number_digits(&d, (size_t)d.point, size);
}

static bool whole_real(double x, uint64_t *size, bool *negative)
{
    double positive = fabs(x);
    if (!(positive < 0x1p64) || positive != floor(positive))
        return false;
    *size = (uint64_t)positive;
    *negative = x < 0;
    return true;
}

/* The same for any value; false if it is not a whole number. */
static bool whole_value(const yyjson_val *v, uint64_t *size, bool *negative)
{
    if (val_type(v) == YYJSON_TYPE_RAW)
        return whole_decimal(v, size, negative);
    if (is_real(v))
        return whole_real(v->uni.f64, size, negative);
    if (!is_number(v))
        return false;
    *negative = is_negative_int(v);
    *size = *negative ? 0 - v->uni.u64 : v->uni.u64;
    return true;
}

bool number_int64(const yyjson_val *v, int64_t *out)
{
    uint64_t size;
    bool negative;
    if (!whole_value(v, &size, &negative) ||
        size > (uint64_t)INT64_MAX + negative)
        return false;
    /* Two's complement, without overflowing at INT64_MIN. */
    *out = negative && size ? -(int64_t)(size - 1) - 1 : (int64_t)size;
    return true;
}

bool number_uint64(const yyjson_val *v, uint64_t *out)
{
    uint64_t size;
    bool negative;
    if (!whole_value(v, &size, &negative) || (negative && size))
        return false;
    *out = size;
    return true;
}

/* ------------------------------------------------------------ writing --- */

static size_t write_int(const yyjson_val *v, char *out)
{
    char digits[20];
    size_t at = sizeof digits;
    bool negative = is_negative_int(v);
    uint64_t n = negative ? 0 - v->uni.u64 : v->uni.u64;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    if (negative)
        *out++ = '-';
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at + negative;
}

/* An allocator that has a single block to give. */
static void *lend_room(void *room, size_t size)
{
    return size <= NUMBER_ROOM ? room : NULL;
}

static void *lend_no_more(void *room, void *p, size_t old, size_t size)
{
    (void)room;
    (void)p;
    (void)old;
    (void)size;
    return NULL;
}

static void take_back(void *room, void *p)
{
    (void)room;
    (void)p;
}

size_t number_write(const yyjson_val *v, char out[NUMBER_ROOM])
{
    if (is_int(v))
        return write_int(v, out);
    yyjson_alc lender = { lend_room, lend_no_more, take_back, out };
    size_t len = 0;
    if (!yyjson_val_write_opts(v, 0, &lender, &len, NULL))
        return 0;
    return len;
}
