/* image_response.h - images that a model made */
#ifndef DATA_IMAGE_RESPONSE_H
#define DATA_IMAGE_RESPONSE_H

#include "data/shape.h"

extern const struct shape image_response_shape;

#endif
