/* schema_types.h - which types a schema allows, in Gemini's names */
#ifndef PROVIDER_GEMINI_SCHEMA_TYPES_H
#define PROVIDER_GEMINI_SCHEMA_TYPES_H

#include "allm.h"

enum gemini_type {
    GEMINI_NO_TYPE, GEMINI_OBJECT, GEMINI_ARRAY, GEMINI_STRING, GEMINI_NUMBER,
    GEMINI_INTEGER, GEMINI_BOOLEAN, GEMINI_NULL, GEMINI_TYPES
};

/* The name that is sent; NULL for GEMINI_NO_TYPE. */
const char *gemini_schema_type_name(enum gemini_type type);

/* The types that a schema allows, without null; how many there are, at least
 * one.  *nullable becomes true if null is one of them. */
size_t gemini_schema_types(const allm_json *schema,
                           enum gemini_type out[GEMINI_TYPES], bool *nullable);

#endif
