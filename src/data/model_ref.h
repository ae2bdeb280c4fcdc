/* model_ref.h - a model's provider and id, and what a catalog knows of it */
#pragma once

#include "data/shape.h"

extern const struct shape model_ref_shape;

/* Split a name: "provider:id", "id@provider" or a bare id, whose provider is {
 * NULL, 0 }. */
void model_ref_split(struct slice name, struct slice *provider,
                     struct slice *id);
