/* response.h - a model's response */
#ifndef DATA_RESPONSE_H
#define DATA_RESPONSE_H

#include "data/shape.h"

extern const struct shape response_shape;
extern const struct shape_words response_finish_words;

#endif
