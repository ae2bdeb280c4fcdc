/* tool_call.h - a model's request to run a tool */
#pragma once

#include "data/shape.h"

extern const struct shape tool_call_shape;
