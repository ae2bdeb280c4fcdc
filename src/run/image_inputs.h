/* image_inputs.h - images that go into a task, as bytes */
#ifndef RUN_IMAGE_INPUTS_H
#define RUN_IMAGE_INPUTS_H

#include "data/path.h"
#include "run/task.h"

/* One pair of a place and a fault, as an error with that reason. */
const allm_error *image_inputs_refuse(struct task *t, const char *reason,
                                      const struct path *where,
                                      const char *fault);

/*
 * Put an image whose source is bytes in the place of one that is base64 or a
 * file; it lives in the task's home.  Bytes and URLs stay as they are.  NULL,
 * or what is wrong, with that reason.
 */
const allm_error *image_inputs_load(struct task *t, const char *reason,
                                    const struct path *where,
                                    const allm_image **slot);

#endif
