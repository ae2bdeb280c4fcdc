/*
 * image.c - images from a script, for tests
 *
 *      "image_script": [["ok", [{"source": {...}, "mime_type": ...}]],
 *                       ["error", "content_filter", {"message": ...}]]
 */
#include "provider/dialects.h"

#include "provider/document.h"
#include "provider/fake/list.h"

struct image_player {
    struct answer answer;
    struct fake_list script;
};

static allm_status images_open(void *state, const allm_call *call,
                               allm_sink *sink)
{
    struct image_player *p = state;
    return fake_list_open(&p->script, call, "image_script", sink);
}

static allm_status images_next(void *state, const allm_call *call,
                               allm_sink *sink, int64_t *again_ns)
{
    struct image_player *p = state;
    *again_ns = INT64_MAX;
    if (!answer_open(&p->answer, call, sink))
        return ALLM_OK;
    return document_answer(&p->answer, p->script.value);
}

static void images_close(void *state, const allm_call *call)
{
    struct image_player *p = state;
    (void)call;
    fake_list_close(&p->script);
}

const allm_adapter fake_image_adapter = {
    .size = sizeof(allm_adapter),
    .name = "fake_image",
    .state_size = sizeof(struct image_player),
    .open = images_open,
    .next = images_next,
    .close = images_close,
};
