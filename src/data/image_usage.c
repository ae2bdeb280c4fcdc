/* image_usage.c - the tokens and cost of a request for images */
#include "data/image.h"

#include "data/noun.h"

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
    SHAPE_OF(image_usage, "ALLM.ImageUsage"),
    .fields = fields,
};

NOUN_FUNCTIONS(image_usage)
