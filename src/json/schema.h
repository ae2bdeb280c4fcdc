/*
 * schema.h - JSON Schema 2020-12: is this value what was asked for?
 *
 * The way for other layers, which have an arena of their own; callers of the
 * library go by allm_json_schema_*.
 */
#ifndef JSON_SCHEMA_H
#define JSON_SCHEMA_H

#include "base/arena.h"

/*
 * The faults of a value, as allm_json_schema_check() tells them, in the arena.
 * The schema must be without error.  NULL: no memory.
 */
const allm_json *schema_check(const allm_json_schema *schema,
                              const allm_json *value, struct arena *a);

#endif
