/* image_request.h - what is asked of a model that makes images */
#ifndef DATA_IMAGE_REQUEST_H
#define DATA_IMAGE_REQUEST_H

#include "data/shape.h"

extern const struct shape image_request_shape;

#endif
