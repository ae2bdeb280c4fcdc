/* fault.h - describe a fault of arguments to the model */
#pragma once

#include "base/buf.h"

#include <allm.h>

/*
 * Write one of the faults that schema_check() found in `arguments`:
 *
 *   missing required field: city
 *   field days: expected type integer, got "two"
 *   field unit: value "k" not in allowed values ["c","f"]
 *
 * Any other fault is written as its path and the message of schema_check().
 */
void fault_write(struct buf *out, const allm_json *fault,
                 const allm_json *schema, const allm_json *arguments);
