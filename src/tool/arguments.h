/* arguments.h - are the arguments of a call what its tool can take? */
#ifndef TOOL_ARGUMENTS_H
#define TOOL_ARGUMENTS_H

#include "tool/outcome.h"

/*
 * Text that is no JSON object is never run as {}: the outcome is
 * invalid_arguments, which tells what was wrong, where, and the schema.  With
 * by_schema the object is checked against the tool's schema, too.  True, and
 * *out is the object; false, and *why is the outcome.
 */
bool arguments_check(struct arena *a, const allm_tool_call *call,
                     const allm_tool *tool, bool by_schema,
                     const allm_json **out, struct outcome *why);

#endif
