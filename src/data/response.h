/* response.h - a model's response */
#pragma once

#include "data/shape.h"

extern const struct shape response_shape;
extern const struct shape_words response_finish_words;
