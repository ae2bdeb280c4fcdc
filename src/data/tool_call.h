/* tool_call.h - a model's request to run a tool */
#ifndef DATA_TOOL_CALL_H
#define DATA_TOOL_CALL_H

#include "data/shape.h"

extern const struct shape tool_call_shape;

#endif
