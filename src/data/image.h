/* image.h - an image: bytes, base64 text, a URL or the path of a file */
#ifndef DATA_IMAGE_H
#define DATA_IMAGE_H

#include "data/shape.h"

extern const struct shape image_shape;

/* The member "source" of a struct that begins with an allm_image. */
extern const struct shape_own image_source_own;

#endif
