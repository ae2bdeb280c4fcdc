/* tool_call.c - a model's request to run a tool */
#include "data/tool_call.h"

#include "data/encode.h"

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
    .tag = "ALLM.ToolCall",
    .noun = "tool_call",
    .size = sizeof(allm_tool_call),
    .kept = offsetof(allm_tool_call, kept),
    .fields = fields,
    .pick_json = pick_json,
};

allm_tool_call *allm_tool_call_new(const allm_tool_call *given)
{
    return shape_new(&tool_call_shape, given);
}

void allm_tool_call_free(allm_tool_call *call)
{
    shape_free(call);
}

const allm_error *allm_tool_call_error(const allm_tool_call *call)
{
    return shape_error(call);
}

allm_text *allm_tool_call_json(const allm_tool_call *call, allm_form form)
{
    return encode_to_text(&tool_call_shape, call, form);
}
