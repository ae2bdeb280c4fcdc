/* codec.h - find the type that a tag names */
#pragma once

#include "data/shape.h"

/* The shape for a tag, with or without the prefix "ALLM."; NULL if unknown. */
const struct shape *codec_shape(struct slice tag, allm_type *type);
