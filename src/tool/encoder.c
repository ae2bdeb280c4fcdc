/*
 * encoder.c - encode results for the model
 *
 *      string          as it is, without quotes
 *      other values    JSON: {"a":1}, [1,2,3], 42, true, null
 *      error, string   {"error":"string"}
 *      error, others   {"error":"<their JSON>"}
 */
#include "tool/encoder.h"

#include "tool/encoding.h"
#include "json/build.h"
#include "json/emit.h"
#include "json/json.h"
#include "json/write.h"

#include <stdint.h>

#define NO_LIMIT (SIZE_MAX / 2)

void encoder_write(struct buf *out, const allm_json *value)
{
    if (allm_json_type_of(value) == ALLM_JSON_TEXT)
        buf_add(out, json_slice(value));
    else
        json_write(out, value, 0);
}

static void write_error(struct buf *out, struct slice text)
{
    struct emit e;
    emit_init(&e, out);
    emit_open(&e, '{');
    emit_member_text(&e, "error", text);
    emit_close(&e, '}');
}

static void write_json(struct buf *out, const allm_json *value, bool is_error)
{
    if (!is_error) {
        encoder_write(out, value);
        return;
    }
    struct buf text = buf_in(out->arena, NO_LIMIT);
    encoder_write(&text, value);
    write_error(out, buf_slice(&text));
}

static void encode_json(void *self, const allm_json *value, bool is_error,
                        allm_encoding *out)
{
    (void)self;
    write_json(&out->text, value, is_error);
    out->has_text = true;
}

const allm_encoder *allm_encoder_json(void)
{
    static const allm_encoder json = {
        .size = sizeof(allm_encoder),
        .encode = encode_json,
    };
    return &json;
}

static bool call_encoder(const allm_encoder *e, struct arena *a,
                         const allm_json *value, bool is_error,
                         struct slice *out, const char **why)
{
    struct allm_encoding encoding = { .has_text = false };
    buf_init(&encoding.text, a, NO_LIMIT);
    if (!e)
        e = allm_encoder_json();
    e->encode(e->self, value, is_error, &encoding);
    *why = encoding.why;
    if (encoding.text.broken || a->broken)
        return false;           /* *why may be NULL: out of memory */
    if (!encoding.has_text && !*why)
        *why = "the encoder set neither a text nor a reason";
    *out = buf_slice(&encoding.text);
    return encoding.has_text;
}

bool encoder_value(const allm_encoder *e, struct arena *a,
                   const allm_json *value, struct slice *out, const char **why)
{
    *why = NULL;
    if (!e && allm_json_type_of(value) == ALLM_JSON_TEXT) {
        *out = json_slice(value);
        return true;
    }
    return call_encoder(e, a, value, false, out, why);
}

/* The message of a failure, without a prefix. */
static struct slice failure_message(const struct outcome *o,
                                    const allm_error *error)
{
    return slice_of(o->detail ? o->detail : error->message);
}

static bool agent_failure(struct arena *a, const struct outcome *o,
                          const allm_error *error, struct slice *out)
{
    bool broken = !strcmp(o->reason, FAILURE_RAISED) ||
                  !strcmp(o->reason, FAILURE_EXIT) ||
                  !strcmp(o->reason, FAILURE_RETURN);
    struct buf text = buf_in(a, NO_LIMIT);
    if (broken)
        buf_text(&text, "Tool execution error: ");
    else if (!o->verbatim)
        buf_text(&text, "Error: ");
    buf_add(&text, failure_message(o, error));
    *out = buf_slice(&text);
    return !text.broken;
}

/* {"error": text}, if the encoder has failed. */
static bool plain_failure(struct arena *a, struct slice text, struct slice *out)
{
    struct buf b = buf_in(a, NO_LIMIT);
    write_error(&b, text);
    *out = buf_slice(&b);
    return !b.broken;
}

bool encoder_failure(const allm_encoder *e, enum encoder_style style,
                     struct arena *a, const struct outcome *o,
                     const allm_error *error, struct slice *out)
{
    const char *why;
    if (style == ENCODER_AGENT)
        return agent_failure(a, o, error, out);
    if (!strcmp(error->reason, FAILURE_ENCODING))
        return plain_failure(a, failure_message(o, error), out);
    const allm_json *value = o->value
                                 ? o->value
                                 : build_alone(a, slice_of(error->message));
    if (!value)
        return false;
    if (call_encoder(e, a, value, true, out, &why))
        return true;
    return !a->broken && plain_failure(a, slice_of(error->message), out);
}
