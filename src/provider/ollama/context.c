/*
 * context.c - how much room a request needs in the server's memory
 *
 * Tokens are not counted but guessed, on the safe side: English text has four
 * bytes in a token, code and other languages three.
 */
#include "provider/ollama/context.h"

#include <stdint.h>

enum {
    GIVEN = 4096,               /* tokens, by the smallest default */
    MOST = 1 << 20,             /* the server takes the model's own if less */
    BYTES = 3,                  /* in a token */
    IMAGE = 1024,               /* tokens, whatever its bytes */
    ANSWER = 1024               /* tokens, if nobody says how many */
};

/* Bytes of an image in base64. */
static size_t encoded(const allm_image *image)
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
            *bytes += encoded(p->image);
            n++;
        }
    return n;
}

int64_t ollama_context(const allm_request *r, size_t bytes, int64_t answer)
{
    size_t pictures;
    size_t n = count_images(r, &pictures);
    size_t text = bytes > pictures ? bytes - pictures : 0;
    int64_t room = answer > 0 ? answer : ANSWER;
    int64_t size = GIVEN;
    room = room < MOST ? room : MOST;
    int64_t need = (int64_t)(text / BYTES + n * IMAGE) + room;
    if (need <= GIVEN)
        return 0;
    while (size < need && size < MOST)
        size *= 2;
    return size;
}
