/* tool_json.c - write a tool as OpenAI and compatible servers expect it */
#include "provider/tool_json.h"

#include "json/json.h"

#include <string.h>

void tool_json_write(struct emit *out, const allm_tool *tool)
{
    emit_member(out, "name", tool->name);
    if (tool->description)
        emit_member(out, "description", tool->description);
    emit_at(out, "parameters");
    if (allm_json_count(tool->schema))
        emit_value(out, tool->schema);
    else
        emit_raw(out, SLICE("{\"type\":\"object\",\"properties\":{}}"));
}

const char *tool_json_choice(const allm_json *map)
{
    const allm_json *function = allm_json_get(map, "function");
    return json_is(allm_json_get(map, "type"), "function")
               ? allm_json_text(allm_json_get(function, "name"), NULL)
               : NULL;
}

bool tool_json_is_choice(const char *choice)
{
    return !strcmp(choice, "auto") || !strcmp(choice, "none") ||
           !strcmp(choice, "required");
}
