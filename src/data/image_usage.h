/* image_usage.h - what a call for images cost */
#ifndef DATA_IMAGE_USAGE_H
#define DATA_IMAGE_USAGE_H

#include "data/shape.h"

extern const struct shape image_usage_shape;

#endif
