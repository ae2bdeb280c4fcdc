/* images.h - the images of a request, before a dialect encodes it */
#pragma once

#include "base/home.h"

enum { IMAGES_LIMIT = 20 * 1024 * 1024 };   /* of one file */

/*
 * Replace each message that has image files by a copy that has their bytes; the
 * copies live in the home.  If the model is blind, results of tools lose their
 * images: their text mentions them.  Other messages do not change.  Returns
 * NULL, or the error if a file cannot be read or is too large.
 */
const allm_error *images_load(allm_request *r, struct allm_home *home,
                              bool blind);
