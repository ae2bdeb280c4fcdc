/* schema_number.h - exact arithmetic for JSON Schema, and hashes of values */
#pragma once

#include "allm.h"

/* For numbers of any type; a REAL is the shortest decimal that reads back as
 * it. */
bool decimal_is_whole(const allm_json *number);
int decimal_compare(const allm_json *a, const allm_json *b);

/* Is the number an exact multiple of the divisor?  The divisor must satisfy
 * decimal_can_divide(): positive, with digits that fit 64 bits. */
bool decimal_divides(const allm_json *divisor, const allm_json *number);
bool decimal_can_divide(const allm_json *divisor);

/* Values that are equal in JSON (1 is 1.0, members have no order) have the
 * same hash. */
uint64_t value_hash(const allm_json *v);
