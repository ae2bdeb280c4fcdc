/* tool_call.c - a model's request to run a tool */
#include "data/tool_call.h"

#include "data/noun.h"

static const struct shape_field fields[] = {
    FIELD_FLAGS(tool_call, id, SHAPE_TEXT, SHAPE_NEEDED),
    FIELD_FLAGS(tool_call, name, SHAPE_TEXT, SHAPE_NEEDED),
    FIELD_FLAGS(tool_call, arguments, SHAPE_MAP, SHAPE_NEEDED),
    FIELD_BYTES(tool_call, raw_arguments, raw_len, 0),
    FIELD(tool_call, metadata, SHAPE_MAP),
    FIELD_FLAGS(tool_call, provider_state, SHAPE_ANY, SHAPE_SPARE),
    FIELD_END,
};

/* A plain object is a call if it has an id and a name. */
static const struct shape *pick_json(const allm_json *plain)
{
    return allm_json_text(allm_json_get(plain, "id"), NULL) &&
                   allm_json_text(allm_json_get(plain, "name"), NULL)
               ? &tool_call_shape
               : NULL;
}

const struct shape tool_call_shape = {
    SHAPE_OF(tool_call, "ALLM.ToolCall"),
    .fields = fields,
    .pick_json = pick_json,
};

NOUN_FUNCTIONS(tool_call)
