/* image_source.h - an image as it goes into a request */
#ifndef PROVIDER_IMAGE_SOURCE_H
#define PROVIDER_IMAGE_SOURCE_H

#include "allm.h"
#include "json/emit.h"

/*
 * What every dialect demands of the images in a request: none in a system,
 * assistant or tool message; png, jpeg, webp or gif; at most 20 MB; a file
 * must have been read before.  NULL, or an error in the arena.  No I/O.
 */
const allm_error *image_source_check(const allm_request *r, struct arena *a);

/* The same for those who fetch nothing: an image must be here, not at a URL. */
const allm_error *image_source_refuse_urls(const allm_request *r,
                                           struct arena *a);

/* Its type, such as "image/png": what it says, else what its bytes say; NULL:
 * unknown. */
const char *image_source_type(const allm_image *image);

/* Its bytes in base64, as a JSON text; behind "data:TYPE;base64," or bare. */
void image_source_write(struct emit *e, const allm_image *image, bool as_uri,
                        struct arena *scratch);

/* A URL as it is, everything else as a data URI. */
void image_source_write_url(struct emit *e, const allm_image *image,
                            struct arena *scratch);

#endif
