/* schema_types.c - the types that a schema allows, in Gemini's names */
#include "provider/gemini/schema_types.h"

#include "json/json.h"

static const struct {
    const char *name, *gemini_name;
} types[] = {
    [GEMINI_NO_TYPE] = { "", NULL },
    [GEMINI_OBJECT] = { "object", "OBJECT" },
    [GEMINI_ARRAY] = { "array", "ARRAY" },
    [GEMINI_STRING] = { "string", "STRING" },
    [GEMINI_NUMBER] = { "number", "NUMBER" },
    [GEMINI_INTEGER] = { "integer", "INTEGER" },
    [GEMINI_BOOLEAN] = { "boolean", "BOOLEAN" },
    [GEMINI_NULL] = { "null", "NULL" },
};

static enum gemini_type type_named(const allm_json *name)
{
    for (size_t i = 1; i < GEMINI_TYPES; i++)
        if (json_is(name, types[i].name) || json_is(name, types[i].gemini_name))
            return (enum gemini_type)i;
    return GEMINI_NO_TYPE;
}

static enum gemini_type type_of_value(const allm_json *v)
{
    switch (allm_json_type_of(v)) {
    case ALLM_JSON_OBJECT:
        return GEMINI_OBJECT;
    case ALLM_JSON_ARRAY:
        return GEMINI_ARRAY;
    case ALLM_JSON_TEXT:
        return GEMINI_STRING;
    case ALLM_JSON_INT:
        return GEMINI_INTEGER;
    case ALLM_JSON_BOOL:
        return GEMINI_BOOLEAN;
    case ALLM_JSON_NULL:
        return GEMINI_NULL;
    default:
        return v ? GEMINI_NUMBER : GEMINI_NO_TYPE;
    }
}

/* Infer the type of a schema without "type". */
static enum gemini_type guess_type(const allm_json *schema)
{
    static const struct {
        const char *keyword;
        enum gemini_type type;
    } hints[] = {
        { "properties", GEMINI_OBJECT }, { "items", GEMINI_ARRAY },
        { "prefixItems", GEMINI_ARRAY }, { "pattern", GEMINI_STRING },
        { "minLength", GEMINI_STRING },  { "maxLength", GEMINI_STRING }
    };
    const allm_json *values = allm_json_get(schema, "enum");
    if (allm_json_get(schema, "const"))
        return type_of_value(allm_json_get(schema, "const"));
    for (const allm_json *v = NULL; (v = allm_json_next(values, v));)
        if (!json_is_type(v, ALLM_JSON_NULL))
            return type_of_value(v);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (allm_json_get(schema, hints[i].keyword))
            return hints[i].type;
    return GEMINI_NO_TYPE;
}

size_t gemini_schema_types(const allm_json *schema,
                           enum gemini_type out[GEMINI_TYPES], bool *nullable)
{
    size_t n = 0;
    const allm_json *list = allm_json_get(schema, "type");
    if (!json_is_type(list, ALLM_JSON_ARRAY)) {
        out[0] = list ? type_named(list) : guess_type(schema);
        return 1;
    }
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        enum gemini_type t = type_named(v);
        bool known = t == GEMINI_NO_TYPE;
        for (size_t i = 0; i < n; i++)
            known = known || out[i] == t;
        *nullable = *nullable || t == GEMINI_NULL;
        if (!known && t != GEMINI_NULL)
            out[n++] = t;
    }
    if (!n)
        out[n++] = *nullable ? GEMINI_NULL : GEMINI_NO_TYPE;
    return n;
}

const char *gemini_schema_type_name(enum gemini_type type)
{
    return types[type].gemini_name;
}
