/* image_to.c - convert an image to its bytes or to a data URI */
#include "base/base64.h"
#include "base/status.h"
#include "base/text.h"
#include "data/image.h"
#include "data/path.h"
#include "run/image_bytes.h"

enum { FILE_LIMIT = 256 * 1024 * 1024 };

static const char *load_bytes(const allm_image *image, struct arena *a,
                              struct slice *out)
{
    size_t limit = image->source == ALLM_IMAGE_FILE ? FILE_LIMIT : SIZE_MAX / 2;
    return image_bytes_load(a, image, limit, out);
}

/* Returns NULL, with the result in the arena, or the reason of the failure. */
typedef const char *convert_fn(const allm_image *image, struct arena *a,
                               struct slice *out);

static const char *make_binary(const allm_image *image, struct arena *a,
                               struct slice *out)
{
    const char *reason = load_bytes(image, a, out);
    if (!reason && out->ptr == image->data)
        out->ptr = arena_copy(a, *out);
    return reason;
}

/* base64 sources are inserted as they are, others are encoded. */
static const char *make_data_uri(const allm_image *image, struct arena *a,
                                 struct slice *out)
{
    if (image->source == ALLM_IMAGE_URL)
        return "remote_source";
    if (!image->mime_type)
        return "missing_mime_type";

    struct slice bytes = { image->data, image->data_len };
    const char *reason = NULL;
    struct arena scratch = arena_in(a->mem);
    struct buf uri = buf_in(a, SIZE_MAX / 2);
    buf_text(&uri, "data:");
    buf_text(&uri, image->mime_type);
    buf_text(&uri, ";base64,");
    if (image->source == ALLM_IMAGE_BASE64) {
        buf_add(&uri, bytes);
    } else {
        reason = load_bytes(image, &scratch, &bytes);
        if (!reason)
            base64_add(&uri, bytes);
    }
    arena_release(&scratch);
    *out = buf_slice(&uri);
    return reason;
}

/* An error with the reason and the field it is about. */
static const allm_error *conversion_error(struct arena *a, const char *reason)
{
    const char *field = !strcmp(reason, "missing_mime_type") ? "mime_type"
                                                             : "source";
    struct path at = PATH_KEY(NULL, field);
    struct build b = build_array_in(a);
    path_write_pair(&b, &at, false, reason);
    const allm_json *errors = build_finish(&b);
    allm_error *e = status_draft(a, ALLM_ERR_VALIDATION, "invalid_request",
                                 "the image cannot be converted: %s (%s)",
                                 reason, field);
    if (!e || !errors)
        return status_nomem();
    e->errors = errors;
    return e;
}

static allm_text *convert_image(const allm_image *caller_image,
                                convert_fn *make)
{
    allm_text *t = caller_image ? text_begin(mem_default(), 0) : NULL;
    if (!t)
        return NULL;
    struct arena *a = text_arena(t);
    struct slice bytes = { NULL, 0 };
    const allm_error *error = NULL;
    /* A caller's own struct is normalised first. */
    allm_image *image = shape_keep(&image_shape, caller_image, a->mem, a,
                                   &error);
    const char *reason = image ? make(image, a, &bytes) : NULL;
    shape_free(image);
    if (reason)
        error = *reason ? conversion_error(a, reason) : status_nomem();
    if (a->broken || (error && error->kind == ALLM_ERR_NOMEM)) {
        allm_text_free(t);
        return NULL;
    }
    return error ? text_fail(t, error) : text_finish(t, bytes);
}

allm_text *allm_image_to_binary(const allm_image *image)
{
    return convert_image(image, make_binary);
}

allm_text *allm_image_to_data_uri(const allm_image *image)
{
    return convert_image(image, make_data_uri);
}
