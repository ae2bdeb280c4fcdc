/* step_result.h - the result of one turn */
#pragma once

#include "data/shape.h"

extern const struct shape step_result_shape;
