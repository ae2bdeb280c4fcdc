/* image_bytes.h - the bytes of an image, decoded or read from its file */
#pragma once

#include "base/arena.h"

/*
 * The bytes of an image, in the arena or borrowed from the image.  Returns
 * NULL, or the reason of the failure: "" if out of memory, "efbig" above the
 * limit, the name of another errno if the file cannot be read,
 * "invalid_base64", "remote_source" for a URL, "missing_source".
 */
const char *image_bytes_load(struct arena *a, const allm_image *image,
                             size_t limit, struct slice *out);

/* A copy of the image in the arena whose source is these bytes; NULL: out of
 * memory. */
allm_image *image_bytes_make(struct arena *a, const allm_image *from,
                             struct slice bytes);
