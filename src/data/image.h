/* image.h - an image; a request for images, the response, its usage */
#pragma once

#include "data/shape.h"

extern const struct shape image_shape, image_request_shape,
    image_response_shape, image_usage_shape;

/* The member "source" of a struct that begins with an allm_image. */
extern const struct shape_own image_source_own;
