/* engine_record.h - an engine as plain data */
#pragma once

#include "data/shape.h"

extern const struct shape engine_record_shape;

/* A field that did not fit when the document was read, so it is in `kept`;
 * NULL if there is none.  Without it, the engine would differ from the stored
 * one. */
const char *engine_record_misfit(const allm_engine_record *record);
