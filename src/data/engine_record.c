/* engine_record.c - an engine as plain data */
#include "data/engine_record.h"

#include "base/status.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/noun.h"
#include "data/tool.h"
#include "json/json.h"

/* An absent policy is written as "default". */
static void write_retry(struct encoder *e, const void *value)
{
    const allm_engine_record *record = value;
    if (record->retry)
        encode_json(e, record->retry);
    else
        encode_text(e, "default");
}

static bool read_retry(struct decoder *d, const allm_json *v, void *value)
{
    if (json_is(v, "default"))
        return true;
    return decode_copy(d, v, &((allm_engine_record *)value)->retry);
}

static const struct shape_own retry_own = { write_retry, read_retry, NULL };

/* An object or a list of [key, value]; written as the latter. */
static void write_opts(struct encoder *e, const void *value)
{
    const allm_json *v = ((const allm_engine_record *)value)->adapter_opts;
    if (allm_json_type_of(v) == ALLM_JSON_ARRAY) {
        encode_json(e, v);
        return;
    }
    emit_open(&e->emit, '[');
    for (const allm_json *k = NULL; (k = allm_json_next(v, k));) {
        emit_open(&e->emit, '[');
        emit_text(&e->emit, json_slice(k));
        encode_json(e, allm_json_value(k));
        emit_close(&e->emit, ']');
    }
    emit_close(&e->emit, ']');
}

static bool read_opts(struct decoder *d, const allm_json *v, void *value)
{
    const allm_json **to = &((allm_engine_record *)value)->adapter_opts;
    if (allm_json_type_of(v) != ALLM_JSON_ARRAY &&
        allm_json_type_of(v) != ALLM_JSON_OBJECT)
        return allm_json_type_of(v) == ALLM_JSON_NULL;
    return allm_json_count(v) == 0 || decode_copy(d, v, to);
}

static const allm_error odd_opts =
    STATUS_ERROR(ALLM_ERR_MISUSE, "wrong_type",
                 "allm_engine_record: adapter_opts must be a JSON object or a "
                 "list of [key, value]");

static const struct shape_own opts_own = { write_opts, read_opts, NULL };

static const struct shape_field fields[] = {
    FIELD(engine_record, adapter, SHAPE_TEXT),
    FIELD_FLAGS(engine_record, adapter_opts, SHAPE_ANY, SHAPE_HIDDEN),
    FIELD_OWN("adapter_opts", opts_own, 0),
    FIELD(engine_record, model, SHAPE_TEXT),
    FIELD_MANY(engine_record, tools, tool_count, tool_shape, 0),
    FIELD(engine_record, tool_executor, SHAPE_TEXT),
    FIELD(engine_record, tool_result_encoder, SHAPE_TEXT),
    FIELD(engine_record, image_adapter, SHAPE_TEXT),
    FIELD(engine_record, params, SHAPE_MAP),
    FIELD(engine_record, context, SHAPE_MAP),
    FIELD_FLAGS(engine_record, retry, SHAPE_ANY, SHAPE_HIDDEN),
    FIELD_OWN("retry", retry_own, 0),
    FIELD(engine_record, middleware, SHAPE_ARRAY),
    FIELD(engine_record, metadata, SHAPE_MAP),
    FIELD_FLAGS(engine_record, id, SHAPE_TEXT, SHAPE_SPARE),
    FIELD_END,
};

static const allm_error *settle_engine(struct allm_home *home, void *value)
{
    const allm_json *v = ((allm_engine_record *)value)->adapter_opts;
    (void)home;
    if (!v || allm_json_type_of(v) == ALLM_JSON_NULL ||
        allm_json_type_of(v) == ALLM_JSON_ARRAY ||
        allm_json_type_of(v) == ALLM_JSON_OBJECT)
        return NULL;
    return &odd_opts;
}

const struct shape engine_record_shape = {
    SHAPE_OF(engine_record, "ALLM.Engine"),
    .fields = fields,
    .settle = settle_engine,
};

const char *engine_record_misfit(const allm_engine_record *record)
{
    for (const struct shape_field *f = fields; f->name; f++)
        if (!(f->flags & SHAPE_HIDDEN) && json_get(record->kept, shape_name(f)))
            return f->name;
    return NULL;
}

NOUN_FUNCTIONS(engine_record)
