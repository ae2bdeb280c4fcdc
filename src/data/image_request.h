/* image_request.h - a request to a model that generates images */
#ifndef DATA_IMAGE_REQUEST_H
#define DATA_IMAGE_REQUEST_H

#include "data/shape.h"

extern const struct shape image_request_shape;

#endif
