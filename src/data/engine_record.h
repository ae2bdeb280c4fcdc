/* engine_record.h - an engine as plain data */
#ifndef DATA_ENGINE_RECORD_H
#define DATA_ENGINE_RECORD_H

#include "data/shape.h"

extern const struct shape engine_record_shape;

#endif
