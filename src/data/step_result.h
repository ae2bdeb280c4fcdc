/* step_result.h - the result of one turn */
#ifndef DATA_STEP_RESULT_H
#define DATA_STEP_RESULT_H

#include "data/shape.h"

extern const struct shape step_result_shape;

#endif
