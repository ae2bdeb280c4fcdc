/* image_bytes.c - the bytes of an image, decoded or read from its file */
#include "run/image_bytes.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/file.h"

#include <errno.h>

static const char *read_file(struct arena *a, struct slice path, size_t limit,
                             struct slice *out)
{
    int error = memchr(path.ptr, '\0', path.len)
                    ? EINVAL
                    : file_read(a, path.ptr, limit, out);
    return !error ? NULL : error == ENOMEM ? "" : file_error_name(error);
}

static const char *decode_base64(struct arena *a, struct slice text,
                                 size_t limit, struct slice *out)
{
    struct buf bytes = buf_in(a, limit);
    if (!base64_take(&bytes, text))
        return bytes.over ? "efbig" : bytes.broken ? "" : "invalid_base64";
    *out = buf_slice(&bytes);
    return NULL;
}

const char *image_bytes_load(struct arena *a, const allm_image *image,
                             size_t limit, struct slice *out)
{
    struct slice data = { image->data, image->data_len };
    switch (image->source) {
    case ALLM_IMAGE_BINARY:
        *out = data;
        return NULL;
    case ALLM_IMAGE_BASE64:
        return decode_base64(a, data, limit, out);
    case ALLM_IMAGE_FILE:
        return read_file(a, data, limit, out);
    case ALLM_IMAGE_URL:
        return "remote_source";
    default:
        return "missing_source";
    }
}

allm_image *image_bytes_make(struct arena *a, const allm_image *from,
                             struct slice bytes)
{
    allm_image *mine = arena_alloc(a, sizeof *mine);
    if (!mine)
        return NULL;
    *mine = *from;
    mine->home = NULL;
    mine->source = ALLM_IMAGE_BINARY;
    mine->data = bytes.ptr;
    mine->data_len = bytes.len;
    return mine;
}
