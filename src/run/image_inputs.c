/* image_inputs.c - images that go into a task, as bytes */
#include "run/image_inputs.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/status.h"
#include "data/error.h"
#include "run/images.h"

#include <errno.h>

const allm_error *image_inputs_refuse(struct task *t, const char *reason,
                                      const struct path *where,
                                      const char *fault)
{
    struct build list;
    struct arena *a = home_arena(t->home);
    build_init(&list, a);
    build_array(&list);
    path_write_pair(&list, where, false, fault);
    build_end(&list);
    const allm_json *errors = build_done(&list);
    return errors ? error_validation(a, reason, errors) : status_nomem();
}

/* NULL, or the name of what is wrong; "": no memory. */
static const char *read_file(struct arena *a, allm_image *image)
{
    struct slice bytes;
    int why = file_read(a, image->data, IMAGES_LIMIT, &bytes);
    if (why)
        return why == ENOMEM  ? ""
               : why == EFBIG ? "image_too_large"
                              : file_error_name(why);
    image->data = bytes.ptr;
    image->data_len = bytes.len;
    return NULL;
}

/* The same. */
static const char *read_base64(struct arena *a, allm_image *image)
{
    struct buf bytes;
    buf_init(&bytes, a, IMAGES_LIMIT);
    if (!base64_take(&bytes, (struct slice){ image->data, image->data_len }))
        return bytes.over     ? "image_too_large"
               : bytes.broken ? ""
                              : "invalid_base64";
    image->data = bytes.ptr;
    image->data_len = bytes.len;
    return NULL;
}

const allm_error *image_inputs_load(struct task *t, const char *reason,
                                    const struct path *where,
                                    const allm_image **slot)
{
    struct arena *a = home_arena(t->home);
    bool file = (*slot)->source == ALLM_IMAGE_FILE;
    if (!file && (*slot)->source != ALLM_IMAGE_BASE64)
        return NULL;
    allm_image *mine = arena_alloc(a, sizeof *mine);
    if (!mine)
        return status_nomem();
    *mine = **slot;
    mine->home = NULL;
    mine->source = ALLM_IMAGE_BINARY;
    const char *fault = file ? read_file(a, mine) : read_base64(a, mine);
    *slot = mine;
    if (!fault)
        return NULL;
    return *fault ? image_inputs_refuse(t, reason, where, fault)
                  : status_nomem();
}
