/* format.c - write response_format for /chat/completions */
#include "provider/openai/format.h"

#include "provider/model_rules.h"
#include "json/json.h"

static void copy_member(struct emit *out, const allm_json *from,
                        const char *name)
{
    const allm_json *v = allm_json_get(from, name);
    if (!v)
        return;
    emit_member_value(out, name, v);
}

/* {type, json_schema: {name, description, schema, strict}} */
static void write_schema(struct emit *out, const allm_json *format)
{
    const allm_json *name = allm_json_get(format, "name");
    emit_open(out, '{');
    emit_member_word(out, "type", "json_schema");
    emit_member_open(out, "json_schema", '{');
    emit_member(out, "name", name ? allm_json_text(name, NULL) : "response");
    copy_member(out, format, "description");
    copy_member(out, format, "schema");
    copy_member(out, format, "strict");
    emit_close(out, '}');
    emit_close(out, '}');
}

void openai_format_write_cache(struct emit *out, const struct extra *extra,
                               uint32_t rules)
{
    const allm_json *cache = extra_get(extra, "prompt_cache");
    const char *name = allm_json_text(allm_json_get(cache, "key"), NULL);
    if (name && extra_leaves(extra, "prompt_cache_key"))
        emit_member(out, "prompt_cache_key", name);
    if (json_is(allm_json_get(cache, "retention"), "long") &&
        !(rules & MODEL_NO_RETENTION) &&
        extra_leaves(extra, "prompt_cache_retention"))
        emit_member_word(out, "prompt_cache_retention", "24h");
}

void openai_format_write(struct emit *out, const allm_request *request,
                         const struct extra *extra)
{
    const allm_json *f = request->response_format;
    const allm_json *type = allm_json_get(f, "type");
    if (allm_json_type_of(f) != ALLM_JSON_OBJECT || json_is(type, "text") ||
        !extra_leaves(extra, "response_format"))
        return;
    emit_at(out, "response_format");
    if (json_is(type, "json_schema") && !allm_json_get(f, "json_schema"))
        write_schema(out, f);
    else
        emit_value(out, f);     /* already in the provider's form */
}
