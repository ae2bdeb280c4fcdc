/* schema_number.h - what JSON Schema asks of numbers, and hashes of values */
#ifndef JSON_SCHEMA_NUMBER_H
#define JSON_SCHEMA_NUMBER_H

#include "allm.h"

/* Of numbers of any type; a REAL is the shortest decimal that reads as it. */
bool decimal_is_whole(const allm_json *number);
int decimal_compare(const allm_json *a, const allm_json *b);

/* Is number a multiple of divisor, exactly?  The divisor must be positive and
 * its digits fit 64 bits, as decimal_can_divide() tells of a number. */
bool decimal_divides(const allm_json *divisor, const allm_json *number);
bool decimal_can_divide(const allm_json *divisor);

/* Values that are equal, as JSON sees it (1 is 1.0, members have no order),
 * have the same hash. */
uint64_t value_hash(const allm_json *v);

#endif
