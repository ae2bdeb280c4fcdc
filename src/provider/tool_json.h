/* tool_json.h - a tool as it is offered to models by OpenAI and those like it */
#ifndef PROVIDER_TOOL_JSON_H
#define PROVIDER_TOOL_JSON_H

#include "allm.h"
#include "json/emit.h"

/* The members name, description and parameters of an object that is open. */
void tool_json_write(struct emit *out, const allm_tool *tool);

/* The tool's name in a choice as OpenAI writes it: {"type": "function",
 * "function": {"name"}}; NULL: it is another one. */
const char *tool_json_choice(const allm_json *map);

/* Is this choice of a tool "auto", "none" or "required", and not a name? */
bool tool_json_is_choice(const char *choice);

#endif
