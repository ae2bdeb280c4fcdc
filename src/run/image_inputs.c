/* image_inputs.c - load the input images of a task */
#include "run/image_inputs.h"

#include "base/status.h"
#include "data/error.h"
#include "run/image_bytes.h"
#include "run/images.h"

const allm_error *image_inputs_load(struct task *t, const char *reason,
                                    const struct path *where,
                                    const allm_image **slot)
{
    struct arena *a = home_arena(t->home);
    struct slice bytes;
    if ((*slot)->source != ALLM_IMAGE_FILE &&
        (*slot)->source != ALLM_IMAGE_BASE64)
        return NULL;
    const char *fault = image_bytes_load(a, *slot, IMAGES_LIMIT, &bytes);
    if (fault && *fault)
        return error_validation_at(a, reason, where,
                                   strcmp(fault, "efbig") ? fault
                                                          : "image_too_large");
    *slot = fault ? NULL : image_bytes_make(a, *slot, bytes);
    return *slot ? NULL : status_nomem();
}
