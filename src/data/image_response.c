/* image_response.c - the images that a model generated */
#include "data/image.h"

#include "data/noun.h"

static const struct shape_field fields[] = {
    FIELD(image_response, id, SHAPE_TEXT),
    FIELD(image_response, request_id, SHAPE_TEXT),
    FIELD(image_response, model, SHAPE_TEXT),
    FIELD_MANY(image_response, images, image_count, image_shape, 0),
    FIELD_ONE(image_response, usage, image_usage_shape, SHAPE_FILLED),
    FIELD(image_response, raw, SHAPE_ANY),
    FIELD(image_response, metadata, SHAPE_MAP),
    FIELD_END,
};

const struct shape image_response_shape = {
    SHAPE_OF(image_response, "ALLM.ImageResponse"),
    .fields = fields,
};

NOUN_FUNCTIONS(image_response)
