/* validate.h - is this well formed?  Every fault, in a fixed order */
#ifndef DATA_VALIDATE_H
#define DATA_VALIDATE_H

#include "base/arena.h"

/*
 * For callers that have structs of ours: the error in the arena, or NULL if
 * all is well.  Lack of memory gives the static error.
 */
const allm_error *validate_request(struct arena *a, const allm_request *r);
const allm_error *validate_image_request(struct arena *a,
                                         const allm_image_request *r);
const allm_error *validate_thread(struct arena *a, const allm_thread *t);

#endif
