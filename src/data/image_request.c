/* image_request.c - a request to a model that generates images */
#include "data/image.h"

#include "data/decode.h"
#include "data/encode.h"
#include "data/noun.h"
#include "json/json.h"

static const struct shape_words operation_words = WORDS("generate", "edit",
                                                        "variation");
static const struct shape_words format_words = WORDS("binary", "base64", "url");

/* "size" is a name, a pair of numbers, or null. */
static void write_size(struct encoder *e, const void *value)
{
    const allm_image_request *r = value;
    if (!r->width.set || !r->height.set) {
        encode_text(e, r->size_text);
        return;
    }
    emit_open(&e->emit, '[');
    emit_int(&e->emit, r->width.value);
    emit_int(&e->emit, r->height.value);
    emit_close(&e->emit, ']');
}

static bool read_size(struct decoder *d, const allm_json *v, void *value)
{
    allm_image_request *r = value;
    if (allm_json_type_of(v) != ALLM_JSON_ARRAY)
        return decode_text(d, v, &r->size_text);
    int64_t w, h;
    if (allm_json_count(v) != 2 || !allm_json_int64(allm_json_at(v, 0), &w) ||
        !allm_json_int64(allm_json_at(v, 1), &h))
        return false;
    r->width = (allm_int){ w, true };
    r->height = (allm_int){ h, true };
    return true;
}

static const struct shape_own size_own = { write_size, read_size, NULL };

static const struct shape_field fields[] = {
    FIELD_ENUM(image_request, operation, operation_words, 0),
    FIELD(image_request, model, SHAPE_TEXT),
    FIELD(image_request, prompt, SHAPE_TEXT),
    { NAMED("n"), .kind = SHAPE_INT, .at = offsetof(allm_image_request, n),
      .fallback = 1, .has_fallback = true },
    FIELD_OWN("size", size_own, 0),
    FIELD_FLAGS(image_request, size_text, SHAPE_TEXT, SHAPE_HIDDEN),
    FIELD_FLAGS(image_request, width, SHAPE_INT, SHAPE_HIDDEN),
    FIELD_FLAGS(image_request, height, SHAPE_INT, SHAPE_HIDDEN),
    FIELD(image_request, quality, SHAPE_TEXT),
    FIELD(image_request, style, SHAPE_TEXT),
    FIELD(image_request, background, SHAPE_TEXT),
    FIELD_ENUM(image_request, response_format, format_words, 0),
    FIELD_MANY(image_request, input_images, input_image_count, image_shape, 0),
    FIELD_ONE(image_request, mask, image_shape, 0),
    FIELD(image_request, options, SHAPE_MAP),
    FIELD(image_request, metadata, SHAPE_MAP),
    FIELD_END,
};

const struct shape image_request_shape = {
    SHAPE_OF(image_request, "ALLM.ImageRequest"),
    .fields = fields,
};

NOUN_FUNCTIONS(image_request)
