/* image_inputs.h - load the input images of a task */
#pragma once

#include "data/path.h"
#include "run/task.h"

/*
 * Replace an image that is base64 or a file by one with its bytes, which lives
 * in the task's home.  Bytes and URLs do not change.  Returns NULL, or an error
 * with this reason.
 */
const allm_error *image_inputs_load(struct task *t, const char *reason,
                                    const struct path *where,
                                    const allm_image **slot);
