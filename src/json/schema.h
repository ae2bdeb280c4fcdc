/*
 * schema.h - JSON Schema 2020-12: is this value what was asked for?
 *
 * The way for other layers, which have an arena of their own; callers of the
 * library go by allm_json_schema_*.
 */
#ifndef JSON_SCHEMA_H
#define JSON_SCHEMA_H

#include "base/arena.h"

enum {
    SCHEMA_MAX_DEPTH = 1000,        /* schemas inside schemas, in a check */
    SCHEMA_MAX_FAULTS = 1000,       /* reported by a check */
    SCHEMA_MAX_NAMES = 10000,       /* $id and $anchor in a schema */
    SCHEMA_BUDGET = 50000000,       /* work of a check: a schema costs 16 */
    SCHEMA_BUDGET_VALUE = 1000      /* more of it per value in the document */
};

/*
 * The faults of a value, as allm_json_schema_check() tells them, in the arena.
 * NULL: no memory.
 */
const allm_json *schema_check(const allm_json_schema *schema,
                              const allm_json *value, struct arena *a);

#endif
