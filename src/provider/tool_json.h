/* tool_json.h - write a tool as OpenAI and compatible servers expect it */
#pragma once

#include "allm.h"
#include "json/emit.h"

/* Write the members name, description and parameters into an open object. */
void tool_json_write(struct emit *out, const allm_tool *tool);

/* The tool's name in a choice as OpenAI writes it: {"type": "function",
 * "function": {"name"}}; NULL: it is something else. */
const char *tool_json_choice(const allm_json *map);

/* Is this choice of a tool "auto", "none" or "required", and not a name? */
bool tool_json_is_choice(const char *choice);
