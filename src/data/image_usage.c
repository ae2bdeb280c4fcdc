/* image_usage.c - the tokens and cost of a request for images */
#include "data/image_usage.h"

#include "data/encode.h"

static const struct shape_field fields[] = {
    { NAMED("images"), .kind = SHAPE_INT,
      .at = offsetof(allm_image_usage, images), .has_fallback = true },
    { NAMED("size"), .kind = SHAPE_ANY,
      .at = offsetof(allm_image_usage, size_json) },
    FIELD(image_usage, quality, SHAPE_TEXT),
    FIELD(image_usage, input_tokens, SHAPE_INT),
    FIELD(image_usage, output_tokens, SHAPE_INT),
    FIELD(image_usage, input_cost, SHAPE_NUM),
    FIELD(image_usage, output_cost, SHAPE_NUM),
    FIELD(image_usage, total_cost, SHAPE_NUM),
    FIELD_END,
};

const struct shape image_usage_shape = {
    .tag = "ALLM.ImageUsage",
    .noun = "image_usage",
    .size = sizeof(allm_image_usage),
    .kept = offsetof(allm_image_usage, kept),
    .fields = fields,
};

allm_image_usage *allm_image_usage_new(const allm_image_usage *given)
{
    return shape_new(&image_usage_shape, given);
}

void allm_image_usage_free(allm_image_usage *usage)
{
    shape_free(usage);
}

const allm_error *allm_image_usage_error(const allm_image_usage *usage)
{
    return shape_error(usage);
}

allm_text *allm_image_usage_json(const allm_image_usage *usage, allm_form form)
{
    return encode_to_text(&image_usage_shape, usage, form);
}
