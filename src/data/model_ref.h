/* model_ref.h - a model by provider and name, and what a catalog knows */
#ifndef DATA_MODEL_REF_H
#define DATA_MODEL_REF_H

#include "data/shape.h"

extern const struct shape model_ref_shape;

#endif
