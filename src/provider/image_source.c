/* image_source.c - write an image into a request */
#include "provider/image_source.h"

#include "base/base64.h"
#include "data/error.h"
#include "data/path.h"

enum { MOST_BYTES = 20 * 1024 * 1024 };

/* The types that all providers accept, and the first bytes of such files. */
static const struct {
    const char *type;
    struct slice start;
} types[] = {
    { "image/png", { "\x89PNG", 4 } },
    { "image/jpeg", { "\xFF\xD8\xFF", 3 } },
    { "image/gif", { "GIF8", 4 } },
    { "image/webp", { "RIFF", 4 } },
};

enum { TYPES = sizeof types / sizeof *types };

const char *image_source_type(const allm_image *image)
{
    struct slice bytes = { image->data, image->data_len };
    if (image->mime_type)
        return !strcmp(image->mime_type, "image/jpg") ? "image/jpeg"
                                                      : image->mime_type;
    for (size_t i = 0; image->source == ALLM_IMAGE_BINARY && i < TYPES; i++)
        if (slice_starts(bytes, types[i].start))
            return types[i].type;
    return NULL;
}

const char *image_source_detail(const allm_part *p)
{
    static const char *const details[] = { "auto", "low", "high" };
    return details[(size_t)p->detail < 3 ? p->detail : 0];
}

static bool is_accepted_type(const char *type)
{
    for (size_t i = 0; type && i < TYPES; i++)
        if (!strcmp(type, types[i].type))
            return true;
    return false;
}

/* What is wrong with an image of this message, as a reason; NULL: nothing. */
static const char *fault_of(const allm_message *m, const allm_image *image)
{
    size_t most = image->source == ALLM_IMAGE_BASE64 ? MOST_BYTES / 3 * 4 + 4
                                                     : MOST_BYTES;
    if (m->role == ALLM_ROLE_SYSTEM)
        return "image_in_system_message";
    if (m->role == ALLM_ROLE_ASSISTANT)
        return "image_in_assistant_message";
    if (image->source == ALLM_IMAGE_URL)
        return NULL;
    if (image->source == ALLM_IMAGE_FILE)
        return "file_not_loaded";
    if (image->source == ALLM_IMAGE_NONE)
        return "missing_source";
    if (!image_source_type(image))
        return "missing_mime_type";
    if (!is_accepted_type(image_source_type(image)))
        return "unsupported_mime_type";
    return image->data_len > most ? "image_too_large" : NULL;
}

static const allm_error *image_refuse(struct arena *a, size_t index,
                                      const char *fault)
{
    const struct path messages = PATH_KEY(NULL, "messages");
    const struct path message = PATH_INDEX(&messages, index);
    const struct path content = PATH_KEY(&message, "content");
    return error_validation_at(a, "invalid_message", &content, fault);
}

const allm_error *image_source_check(const allm_request *r, struct arena *a)
{
    for (size_t i = 0; i < r->message_count; i++) {
        const allm_message *m = r->messages[i];
        for (size_t k = 0; k < m->part_count; k++) {
            const allm_part *p = m->parts[k];
            const char *fault = p->kind == ALLM_PART_IMAGE && p->image
                                    ? fault_of(m, p->image)
                                    : NULL;
            if (fault)
                return image_refuse(a, i, fault);
        }
    }
    return NULL;
}

const allm_error *image_source_refuse_urls(const allm_request *r,
                                           struct arena *a)
{
    for (size_t i = 0; i < r->message_count; i++) {
        const allm_message *m = r->messages[i];
        for (size_t k = 0; k < m->part_count; k++)
            if (m->parts[k]->kind == ALLM_PART_IMAGE && m->parts[k]->image &&
                m->parts[k]->image->source == ALLM_IMAGE_URL)
                return image_refuse(a, i, "url_not_supported");
    }
    return NULL;
}

void image_source_write(struct emit *e, const allm_image *image, bool as_uri,
                        struct arena *scratch)
{
    struct slice data = { image->data, image->data_len };
    const char *type = image_source_type(image);
    struct buf text = buf_in(scratch, SIZE_MAX / 2);
    if (as_uri) {
        buf_text(&text, "data:");
        buf_text(&text, type ? type : "application/octet-stream");
        buf_text(&text, ";base64,");
    }
    if (image->source == ALLM_IMAGE_BASE64)
        buf_add(&text, data);
    else
        base64_add(&text, data);
    if (text.broken)
        e->out->broken = true;
    emit_text(e, buf_slice(&text));
}

void image_source_write_url(struct emit *e, const allm_image *image,
                            struct arena *scratch)
{
    if (image->source == ALLM_IMAGE_URL)
        emit_text(e, (struct slice){ image->data, image->data_len });
    else
        image_source_write(e, image, true, scratch);
}
