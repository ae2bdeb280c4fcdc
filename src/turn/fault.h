/* fault.h - a fault of arguments, in words for the model */
#ifndef TURN_FAULT_H
#define TURN_FAULT_H

#include "base/buf.h"

#include <allm.h>

/*
 * One of the faults that schema_check() found in `arguments`:
 *
 *   missing required field: city
 *   field days: expected type integer, got "two"
 *   field unit: value "k" not in allowed values ["c","f"]
 *
 * and for all others their place and the checker's own words.
 */
void fault_write(struct buf *out, const allm_json *fault,
                 const allm_json *schema, const allm_json *arguments);

#endif
