/* request.c - a request to a model */
#include "data/request.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/message.h"
#include "data/model_ref.h"
#include "data/noun.h"
#include "data/thread.h"
#include "data/tool.h"
#include "json/build.h"
#include "json/json.h"

/* "model" is a name or, once resolved, a reference. */
static void write_model(struct encoder *e, const void *value)
{
    const allm_request *r = value;
    if (r->model_ref)
        encode_value(e, &model_ref_shape, r->model_ref);
    else
        encode_text(e, r->model);
}

static bool read_model(struct decoder *d, const allm_json *v, void *value)
{
    allm_request *r = value;
    if (allm_json_type_of(v) != ALLM_JSON_OBJECT)
        return decode_text(d, v, &r->model);
    r->model_ref = decode_value(d, &model_ref_shape, v);
    return r->model_ref != NULL;
}

static const struct shape_own model_own = { write_model, read_model, NULL };

/* "tool_choice" is a keyword, the name of a tool, or a provider's own
 * object. */
static void write_choice(struct encoder *e, const void *value)
{
    const allm_request *r = value;
    if (r->tool_choice_map)
        encode_json(e, r->tool_choice_map);
    else
        encode_text(e, r->tool_choice);
}

static bool read_choice(struct decoder *d, const allm_json *v, void *value)
{
    allm_request *r = value;
    if (allm_json_type_of(v) == ALLM_JSON_OBJECT)
        return decode_copy(d, v, &r->tool_choice_map);
    return decode_text(d, v, &r->tool_choice);
}

static const struct shape_own choice_own = { write_choice, read_choice, NULL };

/* "response_format" is a name or an object with a type, from a closed set. */
static bool is_word(const allm_json *v)
{
    return allm_json_type_of(v) == ALLM_JSON_TEXT;
}

static bool is_known(const allm_json *type)
{
    return json_is(type, "text") || json_is(type, "json_object") ||
           json_is(type, "json_schema");
}

/* The type of a format that is not in the set, or NULL. */
static const allm_json *strange_word(const allm_json *format)
{
    const allm_json *type = allm_json_get(format, "type");
    if (is_word(format))
        return json_is(format, "text") ? NULL : format;
    return is_word(type) && !is_known(type) ? type : NULL;
}

bool request_format_fits(const allm_json *format)
{
    const allm_json *type = allm_json_get(format, "type");
    allm_json_type kind = allm_json_type_of(format);
    if (!format || kind == ALLM_JSON_NULL || json_is(format, "text"))
        return true;
    return kind == ALLM_JSON_OBJECT &&
           (!type || allm_json_type_of(type) == ALLM_JSON_NULL ||
            is_known(type));
}

const allm_json *request_schema(const allm_request *r)
{
    const allm_json *f = r->response_format;
    const allm_json *inner = allm_json_get(f, "json_schema");
    if (!json_is(allm_json_get(f, "type"), "json_schema"))
        return NULL;
    return allm_json_get(inner ? inner : f, "schema");
}

static void write_format(struct encoder *e, const void *value)
{
    const allm_json *format = ((const allm_request *)value)->response_format;
    const allm_json *strange = strange_word(format);
    encode_json(e, format ? format : json_null());
    if (strange && !e->error)
        e->error = status_error(e->arena, ALLM_ERR_MISUSE, "not_serializable",
                                "the type of response_format must be text, "
                                "json_object or json_schema, and is \"%.64s\"",
                                json_slice(strange).ptr);
}

static bool read_format(struct decoder *d, const allm_json *v, void *value)
{
    const allm_json *strange = d->lenient ? NULL : strange_word(v);
    if (strange == v && strange)
        return decode_refuse(d, "atom_decode_failed");
    if (strange)
        return decode_refuse_at(d, "type", "atom_decode_failed");
    return decode_copy(d, v, &((allm_request *)value)->response_format);
}

static const struct shape_own format_own = { write_format, read_format, NULL };

static const struct shape_field fields[] = {
    FIELD_MANY(request, messages, message_count, message_shape, SHAPE_NEEDED),
    FIELD_OWN("model", model_own, 0),
    FIELD_FLAGS(request, model, SHAPE_TEXT, SHAPE_HIDDEN),
    FIELD_ONE(request, model_ref, model_ref_shape, SHAPE_HIDDEN),
    FIELD_MANY(request, tools, tool_count, tool_shape, 0),
    FIELD_OWN("tool_choice", choice_own, 0),
    FIELD_FLAGS(request, tool_choice, SHAPE_TEXT, SHAPE_HIDDEN),
    FIELD_FLAGS(request, tool_choice_map, SHAPE_MAP, SHAPE_HIDDEN),
    FIELD(request, temperature, SHAPE_NUM),
    FIELD(request, max_tokens, SHAPE_INT),
    FIELD(request, stream, SHAPE_FLAG),
    FIELD_FLAGS(request, response_format, SHAPE_ANY, SHAPE_HIDDEN),
    FIELD_OWN("response_format", format_own, 0),
    FIELD(request, structured_finalize, SHAPE_FLAG),
    FIELD(request, options, SHAPE_MAP),
    FIELD(request, metadata, SHAPE_MAP),
    FIELD_END,
};

const struct shape request_shape = {
    SHAPE_OF(request, "ALLM.Request"),
    .fields = fields,
};

NOUN_FUNCTIONS(request)

/* Share the list of the thread, so that a long history costs what a short one
 * costs.  Out of memory: false. */
static bool share_messages(allm_request *r, const allm_thread *thread)
{
    const allm_thread *mine = NULL;
    if (shape_error(r))
        return true;            /* the caller sees the error */
    if (thread_own.share(r->home, thread, &mine))
        return false;
    r->messages = allm_thread_messages(mine, &r->message_count);
    return true;
}

static allm_request *discard(allm_request *r)
{
    shape_free(r);
    return NULL;
}

allm_request *allm_request_from_thread(const allm_thread *thread,
                                       const allm_request *given)
{
    if (!thread)
        return NULL;
    const allm_error *error = allm_thread_error(thread);
    if (error)
        return shape_refused(&request_shape, error->reason, error->message);
    allm_request *mine = given ? shape_keep_root(&request_shape, given) : NULL;
    if (given && (!mine || shape_error(mine)))
        return mine;
    allm_request all = { .size = sizeof all };
    if (mine)
        all = *mine;            /* not ours: it will be copied */
    const allm_message *none = NULL;
    all.messages = &none;       /* an empty list */
    all.message_count = 0;
    allm_request *made = shape_new(&request_shape, &all);
    shape_free(mine);
    return made && share_messages(made, thread) ? made : discard(made);
}

static const allm_json *make_format(struct arena *a, const char *name,
                                    const allm_json *schema, bool strict)
{
    struct build b = build_object_in(a);
    build_text_at(&b, "type", SLICE("json_schema"));
    build_text_copy_at(&b, "name", slice_of(name));
    build_value_copy_at(&b, "schema", schema);
    build_bool_at(&b, "strict", strict);
    return build_finish(&b);
}

allm_json *allm_request_json_schema(const char *name, const allm_json *schema,
                                    bool strict)
{
    struct allm_home *home = schema ? home_new(mem_default(), json_size(schema))
                                    : NULL;
    if (!home)
        return NULL;
    struct arena *a = home_arena(home);
    const allm_json *v = NULL;
    const allm_error *error = NULL;
    if (!name)
        error = status_error(a, ALLM_ERR_MISUSE, "missing_field",
                             "allm_request_json_schema: the name is missing");
    else if (allm_json_type_of(schema) == ALLM_JSON_NONE)
        error = status_error(a, ALLM_ERR_MISUSE, "broken_json",
                             "allm_request_json_schema: the schema is a JSON "
                             "document that was refused");
    else
        v = make_format(a, name, schema, strict);
    return json_root_of(home, v, v || error ? error : status_nomem());
}
