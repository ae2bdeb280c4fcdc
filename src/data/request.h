/* request.h - what is asked of a model */
#ifndef DATA_REQUEST_H
#define DATA_REQUEST_H

#include "data/shape.h"

extern const struct shape request_shape;

#endif
