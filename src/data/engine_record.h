/* engine_record.h - an engine as plain data */
#ifndef DATA_ENGINE_RECORD_H
#define DATA_ENGINE_RECORD_H

#include "data/shape.h"

extern const struct shape engine_record_shape;

/* A field that a document had in a form that does not fit, so that it is in
 * `kept`; NULL: none.  Without it the engine would not be the one stored. */
const char *engine_record_misfit(const allm_engine_record *record);

#endif
