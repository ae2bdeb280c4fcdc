/*
 * tool.c - a tool that a model may call
 *
 * A tool's function is not data: a tool that has one cannot be written in the
 * tagged form, and the plain form omits it.
 */
#include "data/tool.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/noun.h"
#include "json/json.h"
#include "json/parse.h"

static const struct shape_words effect_words = WORDS("write", "idempotent",
                                                     "pure");

static void write_handler(struct encoder *e, const void *value)
{
    const allm_tool *tool = value;
    emit_null(&e->emit);
    if (!tool->call || e->form == ALLM_FORM_PLAIN || e->error)
        return;
    e->error = status_error(e->arena, ALLM_ERR_MISUSE, "not_serializable",
                            "tool \"%s\" has a function, and a function has "
                            "no JSON form; set .call to NULL in what you "
                            "store, and add it again after loading",
                            tool->name ? tool->name : "");
}

static bool read_handler(struct decoder *d, const allm_json *v, void *value)
{
    (void)d;
    (void)value;
    return allm_json_type_of(v) == ALLM_JSON_NULL;
}

static const struct shape_own handler_own = { write_handler, read_handler,
                                              NULL };

static void write_schema(struct encoder *e, const void *value)
{
    const allm_json *schema = ((const allm_tool *)value)->schema;
    encode_json(e, schema ? schema : json_empty_object());
}

/* Null is read as {}, except for the validator, which reports it. */
static bool read_schema(struct decoder *d, const allm_json *v, void *value)
{
    allm_tool *tool = value;
    if (allm_json_type_of(v) != ALLM_JSON_NULL)
        return decode_copy(d, v, &tool->schema);
    if (!d->lenient)
        tool->schema = json_empty_object();
    return true;
}

static const struct shape_own schema_own = { write_schema, read_schema, NULL };

/* Parse a schema that was given as text. */
static const allm_error *settle_tool(struct allm_home *home, void *value)
{
    allm_tool *tool = value;
    struct arena *a = home_arena(home);
    const char *text = tool->schema_text;
    const allm_error *error;
    tool->schema_text = NULL;
    if (!text || tool->schema)
        return NULL;
    tool->schema = json_parse_strict(a, slice_of(text), &error);
    if (tool->schema || error->kind == ALLM_ERR_NOMEM)
        return tool->schema ? NULL : error;
    return status_error(a, ALLM_ERR_MISUSE, "invalid_schema",
                        "schema_text of tool \"%s\" is not JSON: %s",
                        tool->name ? tool->name : "", error->message);
}

static const struct shape_field fields[] = {
    FIELD_FLAGS(tool, name, SHAPE_TEXT, SHAPE_NEEDED),
    FIELD_FLAGS(tool, description, SHAPE_TEXT, SHAPE_NEEDED),
    FIELD_OWN("schema", schema_own, 0),
    FIELD_FLAGS(tool, schema, SHAPE_ANY, SHAPE_HIDDEN | SHAPE_NEEDED),
    FIELD_FLAGS(tool, schema_text, SHAPE_TEXT, SHAPE_HIDDEN),
    FIELD_OWN("handler", handler_own, 0),
    FIELD_FLAGS(tool, call, SHAPE_POINTER, SHAPE_HIDDEN),
    FIELD_FLAGS(tool, ud, SHAPE_POINTER, SHAPE_HIDDEN),
    FIELD(tool, manual, SHAPE_FLAG),
    FIELD(tool, metadata, SHAPE_MAP),
    FIELD_FLAGS(tool, compact, SHAPE_FLAG, SHAPE_SPARE),
    FIELD_FLAGS(tool, summary, SHAPE_TEXT, SHAPE_SPARE),
    FIELD_ENUM(tool, effect, effect_words, SHAPE_SPARE),
    FIELD_FLAGS(tool, flags, SHAPE_FLAG, SHAPE_HIDDEN),
    FIELD_FLAGS(tool, timeout_ms, SHAPE_FLAG, SHAPE_HIDDEN),
    FIELD_END,
};

const struct shape tool_shape = {
    SHAPE_OF(tool, "ALLM.Tool"),
    .fields = fields,
    .counted = true,            /* engines and requests share their tools */
    .settle = settle_tool,
};

NOUN_FUNCTIONS(tool)

const allm_tool *tool_find(size_t count, const allm_tool *const *tools,
                           const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (tools[i]->name && !strcmp(tools[i]->name, name))
            return tools[i];
    return NULL;
}
