/* image_usage.h - the tokens and cost of a request for images */
#ifndef DATA_IMAGE_USAGE_H
#define DATA_IMAGE_USAGE_H

#include "data/shape.h"

extern const struct shape image_usage_shape;

#endif
