/*
 * context.c - estimate the context size that a request needs
 *
 * We do not count tokens, but estimate them generously: English text has four
 * bytes per token, code and other languages three.
 */
#include "provider/ollama/context.h"

#include <stdint.h>

enum {
    DEFAULT_SIZE = 4096,        /* tokens: the smallest default */
    MAX_SIZE = 1 << 20,         /* the server caps it at the model's */
    TOKEN_BYTES = 3,            /* per token */
    IMAGE_TOKENS = 1024,        /* tokens, independent of its size */
    RESPONSE_TOKENS = 1024      /* tokens, if there is no limit */
};

/* The size of an image in base64. */
static size_t encoded_size(const allm_image *image)
{
    return image->source == ALLM_IMAGE_BASE64 ? image->data_len
                                              : (image->data_len + 2) / 3 * 4;
}

static size_t count_images(const allm_request *r, size_t *bytes)
{
    size_t n = 0;
    *bytes = 0;
    for (size_t i = 0; i < r->message_count; i++)
        for (size_t k = 0; k < r->messages[i]->part_count; k++) {
            const allm_part *p = r->messages[i]->parts[k];
            if (p->kind != ALLM_PART_IMAGE || !p->image)
                continue;
            *bytes += encoded_size(p->image);
            n++;
        }
    return n;
}

int64_t ollama_context(const allm_request *r, size_t bytes, int64_t response)
{
    size_t image_bytes;
    size_t n = count_images(r, &image_bytes);
    size_t text = bytes > image_bytes ? bytes - image_bytes : 0;
    int64_t room = response > 0 ? response : RESPONSE_TOKENS;
    int64_t size = DEFAULT_SIZE;
    room = room < MAX_SIZE ? room : MAX_SIZE;
    int64_t needed = (int64_t)(text / TOKEN_BYTES + n * IMAGE_TOKENS) + room;
    if (needed <= DEFAULT_SIZE)
        return 0;
    while (size < needed && size < MAX_SIZE)
        size *= 2;
    return size;
}
