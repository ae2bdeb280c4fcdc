/* part.c - one part of a message: a text or an image */
#include "data/part.h"

#include "data/image.h"
#include "json/json.h"

static const struct shape_words detail_words = WORDS("auto", "low", "high");

/* --------------------------------------------------------- tagged forms --- */

/* Copying needs this member, whatever the part is. */
#define HIDDEN_KIND FIELD_FLAGS(part, kind, SHAPE_FLAG, SHAPE_HIDDEN)

static const struct shape_field text_fields[] = {
    HIDDEN_KIND,
    FIELD_BYTES(part, text, text_len, 0),
    FIELD(part, metadata, SHAPE_MAP),
    FIELD_FLAGS(part, provider_state, SHAPE_ANY, SHAPE_SPARE),
    FIELD_END,
};

static const struct shape_field image_fields[] = {
    HIDDEN_KIND,
    FIELD_ONE(part, image, image_shape, 0),
    FIELD_ENUM(part, detail, detail_words, 0),
    FIELD(part, metadata, SHAPE_MAP),
    FIELD_FLAGS(part, provider_state, SHAPE_ANY, SHAPE_SPARE),
    FIELD_END,
};

static const struct shape_field other_fields[] = { HIDDEN_KIND, FIELD_END };

static void begin_text(void *value)
{
    ((allm_part *)value)->kind = ALLM_PART_TEXT;
}

static void begin_image(void *value)
{
    ((allm_part *)value)->kind = ALLM_PART_IMAGE;
}

static void begin_other(void *value)
{
    ((allm_part *)value)->kind = ALLM_PART_OTHER;
}

#define PART(name, tag_, begin_, table, whole_) \
    static const struct shape name = { \
        SHAPE_OF(part, tag_), \
        .fields = (table), \
        .begin = (begin_), \
        .whole = (whole_), \
    }

PART(text_shape, "ALLM.TextPart", begin_text, text_fields, false);
PART(image_part_shape, "ALLM.ImagePart", begin_image, image_fields, false);
PART(other_shape, "ALLM.Part", begin_other, other_fields, true);

static const struct shape *const variants[] = { &text_shape,
                                                &image_part_shape, NULL };

static const struct shape *pick_variant(const void *value)
{
    switch (((const allm_part *)value)->kind) {
    case ALLM_PART_TEXT:  return &text_shape;
    case ALLM_PART_IMAGE: return &image_part_shape;
    default:              return &other_shape;
    }
}

const struct shape part_shape = {
    SHAPE_OF(part, "ALLM.Part"),
    .fields = other_fields,
    .variants = variants,
    .pick = pick_variant,
};

/* ---------------------------------------------------------- plain forms --- */

/* An image part in its flat form: the image comes first, so the functions that
 * read and write an image's source work here, too. */
typedef struct allm_flat {
    allm_image image;
    allm_detail detail;
    uint32_t reserved;
    const allm_json *metadata, *provider_state, *kept;
} allm_flat;

static void write_text_type(struct encoder *e, const void *value)
{
    (void)value;
    encode_text(e, "text");
}

static void write_image_type(struct encoder *e, const void *value)
{
    (void)value;
    encode_text(e, "image");
}

static const struct shape_own text_type = { write_text_type, decode_selector,
                                            NULL };
static const struct shape_own image_type = { write_image_type, decode_selector,
                                             NULL };

static const struct shape_field plain_text_fields[] = {
    FIELD_OWN("type", text_type, SHAPE_PLAIN),
    FIELD_BYTES(part, text, text_len, 0),
    FIELD(part, metadata, SHAPE_MAP),
    FIELD_FLAGS(part, provider_state, SHAPE_ANY, SHAPE_SPARE),
    FIELD_END,
};

static const struct shape_field plain_image_fields[] = {
    FIELD_OWN("type", image_type, SHAPE_PLAIN),
    FIELD_OWN("source", image_source_own, 0),
    FIELD(image, mime_type, SHAPE_TEXT),
    FIELD_FLAGS(image, width, SHAPE_INT, SHAPE_SPARE),
    FIELD_FLAGS(image, height, SHAPE_INT, SHAPE_SPARE),
    FIELD_FLAGS(image, prompt, SHAPE_TEXT, SHAPE_SPARE),
    FIELD_FLAGS(image, revised_prompt, SHAPE_TEXT, SHAPE_SPARE),
    FIELD_ENUM(flat, detail, detail_words, 0),
    FIELD(flat, metadata, SHAPE_MAP),
    { NAMED("image_metadata"), .kind = SHAPE_MAP, .flags = SHAPE_SPARE,
      .at = offsetof(allm_image, metadata) },
    FIELD_FLAGS(flat, provider_state, SHAPE_ANY, SHAPE_SPARE),
    FIELD_END,
};

static const struct shape plain_text_shape = {
    .noun = "part",
    .size = sizeof(allm_part),
    .kept = offsetof(allm_part, kept),
    .fields = plain_text_fields,
    .begin = begin_text,
};

static const struct shape plain_image_shape = {
    .noun = "part",
    .size = sizeof(allm_flat),
    .kept = offsetof(allm_flat, kept),
    .fields = plain_image_fields,
};

static void write_plain(struct encoder *e, const allm_part *part)
{
    emit_open(&e->emit, '{');
    if (part->kind == ALLM_PART_TEXT) {
        encode_members(e, &plain_text_shape, part);
    } else {
        allm_flat flat = { .detail = part->detail,
                           .metadata = part->metadata,
                           .provider_state = part->provider_state,
                           .kept = part->kept };
        if (part->image)
            flat.image = *part->image;
        encode_members(e, &plain_image_shape, &flat);
    }
    emit_close(&e->emit, '}');
}

void part_write(struct encoder *e, const allm_part *part)
{
    if (part->kind != ALLM_PART_TEXT && part->kind != ALLM_PART_IMAGE)
        encode_json(e, part->kept ? part->kept : json_null());
    else if (e->form == ALLM_FORM_PLAIN)
        write_plain(e, part);
    else
        encode_value(e, &part_shape, part);
}

/* -------------------------------------------------------------- reading --- */

static const allm_part *read_flat(struct decoder *d, const allm_json *v)
{
    allm_flat flat = { .detail = ALLM_DETAIL_AUTO };
    allm_part *part = shape_make(d->arena, &image_part_shape);
    allm_image *image = shape_make(d->arena, &image_shape);
    if (!part || !image) {
        decode_nomem(d);
        return NULL;
    }
    if (!decode_members(d, &plain_image_shape, v, &flat))
        return NULL;
    *image = flat.image;
    image->size = sizeof *image;
    part->image = image;
    part->detail = flat.detail;
    part->metadata = flat.metadata;
    part->provider_state = flat.provider_state;
    part->kept = flat.kept;
    return part;
}

static const allm_part *read_other(struct decoder *d, const allm_json *v)
{
    allm_part *part = shape_make(d->arena, &other_shape);
    if (part)
        part->kept = json_copy(d->arena, v);
    if (!part || !part->kept) {
        decode_nomem(d);
        return NULL;
    }
    return part;
}

static const allm_part *read_text(struct decoder *d, const allm_json *v)
{
    allm_part *part = shape_make(d->arena, &plain_text_shape);
    if (!part)
        decode_nomem(d);
    return part && decode_members(d, &plain_text_shape, v, part) ? part : NULL;
}

const allm_part *part_read(struct decoder *d, const allm_json *v)
{
    const allm_json *type = allm_json_get(v, "type");

    if (allm_json_type_of(allm_json_get(v, "__type__")) == ALLM_JSON_TEXT) {
        const allm_part *part = decode_value(d, &part_shape, v);
        return part || d->error ? part : read_other(d, v);
    }
    /* In a tagged document a bare object is not a part. */
    if (!d->tagged && json_is(type, "text"))
        return read_text(d, v);
    if (!d->tagged && json_is(type, "image"))
        return read_flat(d, v);
    return read_other(d, v);
}

const char *part_fault(const allm_part *part)
{
    switch (part->kind) {
    case ALLM_PART_TEXT:
        return part->text ? NULL : "a text part has no text";
    case ALLM_PART_IMAGE:
        return part->image ? NULL : "an image part has no image";
    case ALLM_PART_OTHER:
        return part->kept ? NULL : "a part that is not ours has nothing kept";
    default:
        return "a part has no kind";
    }
}
