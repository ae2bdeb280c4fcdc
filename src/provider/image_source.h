/* image_source.h - write an image into a request */
#pragma once

#include "allm.h"
#include "json/emit.h"

/*
 * Check the rules that every dialect has for the images of a request: none in a
 * system or assistant message; png, jpeg, webp or gif; at most 20 MB; a
 * file must have been loaded before.  Returns NULL, or an error in the arena.
 * No I/O.
 */
const allm_error *image_source_check(const allm_request *r, struct arena *a);

/* Reject images that are URLs, for servers that do not download images. */
const allm_error *image_source_refuse_urls(const allm_request *r,
                                           struct arena *a);

/* The type of an image, such as "image/png": its mime_type, else derived from
 * its first bytes; NULL: unknown. */
const char *image_source_type(const allm_image *image);

/* How closely the model is to look at an image, as OpenAI names it. */
const char *image_source_detail(const allm_part *p);

/* Write its bytes in base64 as a JSON string; `as_uri`: with the prefix
 * "data:TYPE;base64,". */
void image_source_write(struct emit *e, const allm_image *image, bool as_uri,
                        struct arena *scratch);

/* Write a URL as it is, everything else as a data URI. */
void image_source_write_url(struct emit *e, const allm_image *image,
                            struct arena *scratch);
