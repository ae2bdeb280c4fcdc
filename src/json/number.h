/*
 * number.h - read, compare and write numbers without loss
 *
 * An integer that fits int64_t or uint64_t is stored as one.  A number with a
 * decimal point or an exponent is stored as a double if that double, written
 * as shortly as possible, is the same decimal number.  Every other number
 * keeps its text.  So numbers are written as they were read, and what a number
 * becomes depends only on its own text.
 */
#pragma once

#include "base/slice.h"
#include "json/val.h"

/* The longest text of a number that is read, and that is written. */
enum { NUMBER_LONGEST = 1024, NUMBER_ROOM = 64 };

/*
 * Read the number at `at`, in a NUL-terminated text.  Returns its end; or,
 * with *expected set, the position of the error.  A number that keeps its text
 * refers to it in place, without a NUL after it yet.
 */
char *number_read(char *at, yyjson_val *v, const char **expected);

/*
 * A fast path for most numbers: a few digits followed by a comma or the end of
 * a container.  NULL: anything else, use number_read().
 */
static inline char *number_read_short(char *at, yyjson_val *v)
{
    enum { SAFE = 18 };         /* digits that cannot overflow */
    uint64_t n = 0;
    char *p = at;
    for (; *p >= '0' && *p <= '9'; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    size_t count = (size_t)(p - at);
    if (count - 1 >= SAFE || (*at == '0' && count > 1) ||
        (*p != ',' && *p != '}' && *p != ']'))
        return NULL;
    v->tag = YYJSON_TYPE_NUM;
    v->uni.u64 = n;
    return p;
}

/* For any type; 0 or false if it is not a number.  A number that is whole and
 * fits is an integer, however it is written. */
double number_double(const yyjson_val *v);
bool number_int64(const yyjson_val *v, int64_t *out);
bool number_uint64(const yyjson_val *v, uint64_t *out);

/* The shortest text that reads back as this INT or REAL; returns its length. */
size_t number_write(const yyjson_val *v, char out[NUMBER_ROOM]);

/* By value, as decimal numbers: less than, equal to, greater than 0. */
int number_compare(const yyjson_val *a, const yyjson_val *b);

/* The text of any number; `room` is used if the number keeps none. */
struct slice number_text(const yyjson_val *v, char room[NUMBER_ROOM]);

/*
 * A number as 0.digits * 10^point, where a REAL is the shortest decimal that
 * reads back as it.
 */
struct decimal {
    bool negative;
    bool far;                   /* the exponent is beyond 10^15 */
    size_t count;               /* digits, neither end a zero; 0: zero */
    int64_t point;
    char digits[NUMBER_LONGEST];
};
void number_decimal(struct decimal *d, const yyjson_val *v);

/* The first n digits, and zeros after the last one, as an integer; false: it
 * does not fit. */
bool number_digits(const struct decimal *d, size_t n, uint64_t *out);
