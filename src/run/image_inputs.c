/* image_inputs.c - load the input images of a task */
#include "run/image_inputs.h"

#include "base/status.h"
#include "data/error.h"
#include "run/image_bytes.h"
#include "run/images.h"

const allm_error *image_inputs_refuse(struct task *t, const char *reason,
                                      const struct path *where,
                                      const char *fault)
{
    struct build list;
    struct arena *a = home_arena(t->home);
    build_start_array(&list, a);
    path_write_pair(&list, where, false, fault);
    const allm_json *errors = build_finish(&list);
    return errors ? error_validation(a, reason, errors) : status_nomem();
}

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
        return image_inputs_refuse(t, reason, where,
                                   strcmp(fault, "efbig") ? fault
                                                          : "image_too_large");
    allm_image *mine = fault ? NULL : arena_alloc(a, sizeof *mine);
    if (!mine)
        return status_nomem();
    *mine = **slot;
    mine->home = NULL;
    mine->source = ALLM_IMAGE_BINARY;
    mine->data = bytes.ptr;
    mine->data_len = bytes.len;
    *slot = mine;
    return NULL;
}
