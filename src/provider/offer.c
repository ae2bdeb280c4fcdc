/* offer.c - a tool as it is offered to models by OpenAI and those like it */
#include "provider/offer.h"

#include <string.h>

void offer_tool(struct emit *out, const allm_tool *tool)
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

bool offer_is_word(const char *choice)
{
    return !strcmp(choice, "auto") || !strcmp(choice, "none") ||
           !strcmp(choice, "required");
}
