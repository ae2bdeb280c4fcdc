/* usage.h - what a call cost, in tokens and money */
#ifndef DATA_USAGE_H
#define DATA_USAGE_H

#include "data/shape.h"

extern const struct shape usage_shape;

#endif
