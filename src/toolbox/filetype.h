/* filetype.h - what a file is, by its first bytes */
#pragma once

#include "base/slice.h"

/* A media type: "image/png", "text/plain", "application/octet-stream". */
const char *filetype_of(struct slice start);

/* Is it an image that models can see? */
bool filetype_image(const char *type);
