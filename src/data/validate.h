/* validate.h - check structs and documents, and report every fault in order */
#pragma once

#include "base/arena.h"

/*
 * For structs of ours: the error in the arena, or NULL if there is no fault.
 * The static error if out of memory.
 */
const allm_error *validate_request(struct arena *a, const allm_request *r);
const allm_error *validate_image_request(struct arena *a,
                                         const allm_image_request *r);
const allm_error *validate_thread(struct arena *a, const allm_thread *t);
