/* tool.h - a tool that a model may call */
#ifndef DATA_TOOL_H
#define DATA_TOOL_H

#include "data/shape.h"

extern const struct shape tool_shape;

#endif
