/*
 * schema.h - JSON Schema 2020-12: check values into an arena
 *
 * For other layers, which have an arena of their own; callers of the library
 * use allm_json_schema_*.
 */
#pragma once

#include "base/arena.h"

/*
 * The faults of a value, as allm_json_schema_check() returns them, in the
 * arena.  The schema must have no error.  NULL: out of memory.
 */
const allm_json *schema_check(const allm_json_schema *schema,
                              const allm_json *value, struct arena *a);
