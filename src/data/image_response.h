/* image_response.h - the images that a model generated */
#ifndef DATA_IMAGE_RESPONSE_H
#define DATA_IMAGE_RESPONSE_H

#include "data/shape.h"

extern const struct shape image_response_shape;

#endif
