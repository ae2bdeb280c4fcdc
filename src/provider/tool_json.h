/* tool_json.h - a tool as it is offered to models by OpenAI and those like it */
#ifndef PROVIDER_TOOL_JSON_H
#define PROVIDER_TOOL_JSON_H

#include "allm.h"
#include "json/emit.h"

/* The members name, description and parameters of an object that is open. */
void tool_json_write(struct emit *out, const allm_tool *tool);

/* Is this choice of a tool a word, and no tool's name? */
bool tool_json_is_choice(const char *choice);

#endif
