/* schema_types.h - the types that a schema allows, in Gemini's names */
#pragma once

#include "allm.h"

enum gemini_type {
    GEMINI_NO_TYPE, GEMINI_OBJECT, GEMINI_ARRAY, GEMINI_STRING, GEMINI_NUMBER,
    GEMINI_INTEGER, GEMINI_BOOLEAN, GEMINI_NULL, GEMINI_TYPES
};

/* Gemini's name of a type; NULL for GEMINI_NO_TYPE. */
const char *gemini_schema_type_name(enum gemini_type type);

/* List the types that a schema allows, without null.  Returns their number, at
 * least 1.  *nullable becomes true if null is allowed. */
size_t gemini_schema_types(const allm_json *schema,
                           enum gemini_type out[GEMINI_TYPES], bool *nullable);
