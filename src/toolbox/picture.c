/* picture.c - images in the results of tools */
#include "toolbox/picture.h"

#include "base/base64.h"
#include "toolbox/filetype.h"

void pictures_init(struct pictures *p, struct arena *a)
{
    *p = (struct pictures){ .arena = a };
    build_start_array(&p->list, a);
}

/* The type is that of the bytes, whatever somebody says about them. */
static bool add_picture(struct pictures *p, struct slice bytes,
                        struct slice base64)
{
    const char *type = filetype_of(bytes);
    if (!filetype_image(type) || bytes.len > PICTURE_MOST)
        return false;
    build_object(&p->list);
    build_text_at(&p->list, "data", base64);
    build_text_at(&p->list, "mimeType", slice_of(type));
    build_end(&p->list);
    p->count++;
    return true;
}

bool pictures_add(struct pictures *p, struct slice bytes)
{
    struct buf text = buf_in(p->arena, SIZE_MAX / 2);
    base64_add(&text, bytes);
    return !text.broken && add_picture(p, bytes, buf_slice(&text));
}

bool pictures_add_base64(struct pictures *p, struct slice text)
{
    struct buf bytes = buf_in(p->arena, SIZE_MAX / 2);
    return base64_take(&bytes, text) && add_picture(p, buf_slice(&bytes), text);
}

const allm_json *pictures_done(struct pictures *p)
{
    const allm_json *list = build_finish(&p->list);
    return p->count ? list : NULL;
}
