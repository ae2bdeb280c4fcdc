/*
 * codec.c - encode and decode every public type as JSON
 *
 * A document is {"__type__": tag, "data": {...}}, or only the data if the
 * caller names the type.  The table below lists all types that have a tag; a
 * document with any other tag is kept as it is.
 */
#include "data/codec.h"

#include "base/status.h"
#include "data/chat_result.h"
#include "data/decode.h"
#include "data/encode.h"
#include "data/engine_record.h"
#include "data/error.h"
#include "data/image.h"
#include "data/message.h"
#include "data/model_ref.h"
#include "data/part.h"
#include "data/request.h"
#include "data/response.h"
#include "data/session_record.h"
#include "data/step_result.h"
#include "data/thread.h"
#include "data/tool.h"
#include "data/tool_call.h"
#include "data/usage.h"
#include "json/json.h"
#include "json/parse.h"

static const struct {
    allm_type type;
    const struct shape *shape;
} registered[] = {
    { ALLM_TYPE_MESSAGE, &message_shape },
    { ALLM_TYPE_TOOL, &tool_shape },
    { ALLM_TYPE_TOOL_CALL, &tool_call_shape },
    { ALLM_TYPE_REQUEST, &request_shape },
    { ALLM_TYPE_RESPONSE, &response_shape },
    { ALLM_TYPE_THREAD, &thread_shape },
    { ALLM_TYPE_SESSION, &session_record_shape },
    { ALLM_TYPE_STEP_RESULT, &step_result_shape },
    { ALLM_TYPE_CHAT_RESULT, &chat_result_shape },
    { ALLM_TYPE_USAGE, &usage_shape },
    { ALLM_TYPE_ENGINE, &engine_record_shape },
    { ALLM_TYPE_MODEL_REF, &model_ref_shape },
    { ALLM_TYPE_ERROR, &error_shape },
    { ALLM_TYPE_IMAGE, &image_shape },
    { ALLM_TYPE_IMAGE_REQUEST, &image_request_shape },
    { ALLM_TYPE_IMAGE_RESPONSE, &image_response_shape },
    { ALLM_TYPE_IMAGE_USAGE, &image_usage_shape },
    { ALLM_TYPE_PART, &part_shape },
};

struct allm_codec {
    struct allm_home *home;
    allm_type type;
    const struct shape *shape;
    const void *value;          /* a struct, a thread, or free-form JSON */
    const allm_error *error;
};

/* The name without its "ALLM.". */
static struct slice bare(struct slice tag)
{
    struct slice prefix = SLICE("ALLM.");
    return slice_starts(tag, prefix) ? slice_skip(tag, prefix.len) : tag;
}

static bool tag_is(struct slice tag, const char *full)
{
    return slice_eq(bare(tag), bare(slice_of(full)));
}

/* The shape itself or one of its variants. */
static const struct shape *named(const struct shape *s, struct slice tag)
{
    if (!s->variants)
        return tag_is(tag, s->tag) ? s : NULL;
    for (const struct shape *const *one = s->variants; *one; one++)
        if (tag_is(tag, (*one)->tag))
            return *one;
    return NULL;
}

const struct shape *codec_shape(struct slice tag, allm_type *type)
{
    for (size_t i = 0; i < sizeof registered / sizeof *registered; i++) {
        const struct shape *s = named(registered[i].shape, tag);
        if (s) {
            *type = registered[i].type;
            return s;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------ reading --- */

static void refuse_member(allm_codec *c, const char *field, const char *reason)
{
    struct path at = PATH_KEY(NULL, field);
    c->error = decode_error(home_arena(c->home), &at, reason);
}

static void read_free(allm_codec *c, const allm_json *v)
{
    c->type = ALLM_TYPE_JSON;
    c->value = json_copy(home_arena(c->home), v);
    if (!c->value)
        c->error = status_nomem();
}

/* A part in plain form names its own type. */
static const allm_part *read_part(struct decoder *d, const struct shape *s,
                                  const allm_json *v)
{
    const allm_part *part = part_read(d, v);
    bool ours = !part || part->kind != ALLM_PART_OTHER;
    return ours ? part : decode_value(d, s, v);
}

/* v is the enveloped document, or bare data that is to be read as s. */
static void read_as(allm_codec *c, const struct shape *s, const allm_json *v)
{
    struct decoder d;
    decode_init(&d, c->home, home_arena(c->home));
    if (s == &thread_shape)
        thread_own.read(&d, v, &c->value);
    else if (c->type == ALLM_TYPE_PART)
        c->value = read_part(&d, s, v);
    else
        c->value = decode_value(&d, s, v);
    c->error = d.error;
    c->shape = s;
}

static void read_tagged(allm_codec *c, const allm_json *v, struct slice tag)
{
    const allm_json *data = allm_json_get(v, "data");
    const struct shape *s = NULL;
    if (!data)
        refuse_member(c, "data", "missing");
    else if (allm_json_type_of(data) != ALLM_JSON_OBJECT)
        refuse_member(c, "data", "malformed_struct");
    else if (slice_starts(tag, SLICE("ALLM.")))
        s = codec_shape(tag, &c->type);
    if (s)
        read_as(c, s, v);
    else if (!c->error)
        read_free(c, v);
}

static void read_document(allm_codec *c, const allm_json *v, const char *as)
{
    const allm_json *tag = allm_json_get(v, "__type__");
    if (allm_json_type_of(tag) == ALLM_JSON_TEXT) {
        read_tagged(c, v, json_slice(tag));
        return;
    }
    if (!as || allm_json_type_of(v) != ALLM_JSON_OBJECT) {
        refuse_member(c, "format", "missing_type_tag");
        return;
    }
    const struct shape *s = codec_shape(slice_of(as), &c->type);
    if (s)
        read_as(c, s, v);
    else
        refuse_member(c, "format", "unknown_type_tag");
}

static allm_codec *codec_new(struct mem mem)
{
    struct allm_home *home = home_new(mem, 512);
    allm_codec *c = home ? arena_zero(home_arena(home), sizeof *c) : NULL;
    if (!c) {
        home_drop(home);
        return NULL;
    }
    c->home = home;
    return c;
}

/* Parse in a scratch arena, then copy the result into the home. */
static void read_text(allm_codec *c, struct slice text, const char *as,
                      struct json_limits limits)
{
    const allm_error *error = NULL;
    struct arena scratch = arena_in(home_mem(c->home));
    const allm_json *v = json_parse(&scratch, text, limits, &error);
    if (v)
        read_document(c, v, as);
    else
        c->error = error_copy(c->home, error);
    arena_release(&scratch);
}

allm_codec *allm_codec_decode(const char *json, size_t len, const char *as,
                              const allm_json_opts *opts)
{
    struct json_limits limits;
    bool known = json_limits_from(&limits, opts);
    if (!opts || !MEM_REACHES(opts, max_depth) || !opts->max_depth)
        limits.max_depth += DECODE_ENVELOPES;
    bool reaches = known && opts && MEM_REACHES(opts, allocator);
    allm_codec *c = codec_new(mem_from(reaches ? opts->allocator : NULL));
    if (!c)
        return NULL;
    if (!json)
        c->error = status_error(home_arena(c->home), ALLM_ERR_MISUSE,
                                "missing_text",
                                "allm_codec_decode: the text is NULL");
    else if (!known)
        c->error =
            status_error(home_arena(c->home), ALLM_ERR_MISUSE, "struct_size",
                         "allm_codec_decode: the options have no size or an "
                         "unknown flag; fill them with ALLM(json_opts, ...)");
    else
        read_text(c, slice_given(json, len), as, limits);
    if (c->error && c->error->kind == ALLM_ERR_NOMEM) {
        allm_codec_free(c);
        return NULL;
    }
    if (c->error)
        c->type = ALLM_TYPE_NONE;
    return c;
}

/* ------------------------------------------------------------- public --- */

const allm_error *allm_codec_error(const allm_codec *c)
{
    return c ? c->error : status_nomem();
}

allm_type allm_codec_type(const allm_codec *c)
{
    return c ? c->type : ALLM_TYPE_NONE;
}

const void *allm_codec_value(const allm_codec *c, allm_type type)
{
    return c && !c->error && c->type == type ? c->value : NULL;
}

allm_text *allm_codec_json(const allm_codec *c, allm_form form)
{
    struct encoder e;
    if (!c || !encode_begin(&e, home_mem(c->home), form))
        return NULL;
    if (c->error)
        e.error = c->error;
    else if (c->type == ALLM_TYPE_JSON)
        encode_json(&e, c->value);
    else if (c->type == ALLM_TYPE_THREAD)
        thread_own.write(&e, c->value);
    else if (c->type == ALLM_TYPE_PART)
        part_write(&e, c->value);
    else
        encode_value(&e, c->shape, c->value);
    return encode_finish(&e);
}

void allm_codec_free(allm_codec *c)
{
    if (c)
        home_drop(c->home);
}
