/*
 * schema_number.c - exact arithmetic for JSON Schema, and hashes of values
 *
 * A number is digits * 10^exponent, with no zero at either end of the digits:
 *
 *      -12.50e3    negative, 125 * 10^2
 *
 * Is a * 10^p a multiple of b * 10^q?  If p < q it is not (or zero), as a does
 * not end in zero; otherwise the remainder of a * 10^(p-q) by b decides, which
 * can be computed digit by digit.
 */
#include "json/schema_number.h"

#include "json/json.h"
#include "json/number.h"

#include <math.h>

static int64_t exponent_of(const struct decimal *d)
{
    return d->point - (int64_t)d->count;
}

bool decimal_is_whole(const allm_json *number)
{
    struct decimal d;
    switch (allm_json_type_of(number)) {
    case ALLM_JSON_INT:
        return true;
    case ALLM_JSON_REAL:
        return floor(allm_json_number(number)) == allm_json_number(number);
    case ALLM_JSON_BIG:
        number_decimal(&d, val_of(number));
        return d.count == 0 || exponent_of(&d) >= 0;
    default:
        return false;
    }
}

int decimal_compare(const allm_json *a, const allm_json *b)
{
    return number_compare(val_of(a), val_of(b));
}

/* ----------------------------------------------------------- dividing --- */

/* a + b and a * b modulo m, for a and b below m; without overflow. */
static uint64_t add_mod(uint64_t a, uint64_t b, uint64_t m)
{
    return a >= m - b ? a - (m - b) : a + b;
}

static uint64_t multiply_mod(uint64_t a, uint64_t b, uint64_t m)
{
    uint64_t product = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            product = add_mod(product, a, m);
        a = add_mod(a, a, m);
    }
    return product;
}

/* 10^n modulo m */
static uint64_t power_of_ten_mod(uint64_t n, uint64_t m)
{
    uint64_t power = 1 % m, square = 10 % m;
    for (; n; n >>= 1) {
        if (n & 1)
            power = multiply_mod(power, square, m);
        square = multiply_mod(square, square, m);
    }
    return power;
}

bool decimal_can_divide(const allm_json *divisor)
{
    struct decimal d;
    uint64_t value;
    number_decimal(&d, val_of(divisor));
    return !d.negative && d.count > 0 && number_digits(&d, d.count, &value);
}

bool decimal_divides(const allm_json *divisor, const allm_json *number)
{
    struct decimal d, n;
    uint64_t m = 1;
    number_decimal(&d, val_of(divisor));
    number_decimal(&n, val_of(number));
    int64_t zeros = exponent_of(&n) - exponent_of(&d);
    if (n.count == 0)
        return true;
    if (zeros < 0 || !number_digits(&d, d.count, &m) || m == 0)
        return false;
    uint64_t rest = 0;
    for (size_t i = 0; i < n.count; i++) {
        rest = multiply_mod(rest, 10 % m, m);
        rest = add_mod(rest, (uint64_t)(n.digits[i] - '0') % m, m);
    }
    return multiply_mod(rest, power_of_ten_mod((uint64_t)zeros, m), m) == 0;
}

/* ------------------------------------------------------------- hashes --- */

/* Deeper parts contribute only their kind. */
enum { HASH_DEPTH = 16 };

static uint64_t mix_hash(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t hash_bytes(uint64_t h, struct slice s)
{
    h = mix_hash(h, s.len);
    for (size_t i = 0; i < s.len; i++)
        h = mix_hash(h, (unsigned char)s.ptr[i]);
    return h;
}

static uint64_t hash_number(const allm_json *v)
{
    struct decimal d;
    number_decimal(&d, val_of(v));
    if (d.count == 0)
        return mix_hash(ALLM_JSON_INT, 0);   /* minus zero is zero */
    uint64_t h = mix_hash(ALLM_JSON_INT,
                          (uint64_t)exponent_of(&d) * 2 + d.negative);
    return hash_bytes(h, (struct slice){ d.digits, d.count });
}

static uint64_t hash_to(const allm_json *v, unsigned depth)
{
    allm_json_type type = allm_json_type_of(v);
    uint64_t h = mix_hash(type, allm_json_count(v)), sum = 0;
    const allm_json *part = NULL;
    if (type == ALLM_JSON_INT || type == ALLM_JSON_REAL ||
        type == ALLM_JSON_BIG)
        return hash_number(v);
    if (type == ALLM_JSON_TEXT)
        return hash_bytes(h, json_slice(v));
    if (type == ALLM_JSON_BOOL)
        return mix_hash(h, allm_json_true(v));
    while (depth > 0 && (part = allm_json_next(v, part))) {
        if (type == ALLM_JSON_ARRAY)
            h = mix_hash(h, hash_to(part, depth - 1));
        else
            sum += hash_bytes(hash_to(allm_json_value(part), depth - 1),
                              json_slice(part));
    }
    return mix_hash(h, sum);
}

uint64_t value_hash(const allm_json *v)
{
    return hash_to(v, HASH_DEPTH);
}
