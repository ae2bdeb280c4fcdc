/* arguments.h - check the arguments of a tool call */
#pragma once

#include "tool/outcome.h"

/*
 * Arguments that are not a JSON object are never treated as {}: the outcome is
 * the failure invalid_arguments, whose detail says what is wrong, where, and
 * includes the schema.  With by_schema the object is also checked against the
 * tool's schema.  Returns true and sets *out to the object, or returns false
 * and sets *why to the outcome.
 */
bool arguments_check(struct arena *a, const allm_tool_call *call,
                     const allm_tool *tool, bool by_schema,
                     const allm_json **out, struct outcome *why);
