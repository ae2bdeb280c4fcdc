/* image_response.c - the images that a model generated */
#include "data/image_response.h"

#include "data/encode.h"
#include "data/image.h"
#include "data/image_usage.h"

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
    .tag = "ALLM.ImageResponse",
    .noun = "image_response",
    .size = sizeof(allm_image_response),
    .kept = offsetof(allm_image_response, kept),
    .fields = fields,
};

allm_image_response *allm_image_response_new(const allm_image_response *given)
{
    return shape_new(&image_response_shape, given);
}

void allm_image_response_free(allm_image_response *response)
{
    shape_free(response);
}

const allm_error *allm_image_response_error(const allm_image_response *response)
{
    return shape_error(response);
}

allm_text *allm_image_response_json(const allm_image_response *response,
                                    allm_form form)
{
    return encode_to_text(&image_response_shape, response, form);
}
