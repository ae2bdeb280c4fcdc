/* tool.h - a tool that a model may call */
#pragma once

#include "data/shape.h"

extern const struct shape tool_shape;

/* The first tool with this name; NULL: there is none. */
const allm_tool *tool_find(size_t count, const allm_tool *const *tools,
                           const char *name);
