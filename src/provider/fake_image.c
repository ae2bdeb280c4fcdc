/*
 * fake_image.c - images of a script, for tests
 *
 *      "image_script": [["ok", [{"source": {...}, "mime_type": ...}]],
 *                       ["error", "content_filter", {"message": ...}]]
 *
 * One entry for each call.  The position is the one of the fake's scripts.
 */
#include "provider/fake_image.h"

#include "provider/document.h"
#include "provider/fake_log.h"
#include "provider/fake_script.h"
#include "json/json.h"

struct painter {
    struct answer answer;
    struct fake_log *log;
    const allm_json *images;
};

static allm_status refuse(allm_sink *sink, allm_status kind, const char *reason,
                          const char *sentence)
{
    return allm_sink_fail(
        sink, ALLM(error, .kind = kind, .reason = reason, .message = sentence),
        true);
}

/* The entry of this call. */
static allm_status choose(struct painter *p, const allm_json *entry,
                          allm_sink *sink)
{
    allm_error error;
    struct fake_entry e = fake_entry_read(entry);
    bool fails = e.tag == FAKE_ERROR || e.tag == FAKE_PREFLIGHT_ERROR;
    if (fails && !fake_read_error(&e, &error))
        return allm_sink_fail(sink, &error, true);
    if (e.tag == FAKE_OK && allm_json_type_of(e.value) == ALLM_JSON_ARRAY) {
        p->images = e.value;
        return ALLM_OK;
    }
    return refuse(sink, ALLM_ERR_MISUSE, "invalid_script",
                  "an entry of image_script must be [\"ok\", [image, ...]] or "
                  "[\"error\", reason, {fields}]");
}

static allm_status open(void *state, const allm_call *call, allm_sink *sink)
{
    struct painter *p = state;
    const allm_json *script = allm_json_get(call->adapter_opts, "image_script");
    p->log = fake_log_of(call->attachments, sink->arena->mem);
    if (!p->log)
        return ALLM_ERR_NOMEM;
    if (script && allm_json_type_of(script) != ALLM_JSON_ARRAY)
        return refuse(sink, ALLM_ERR_MISUSE, "invalid_script",
                      "image_script must be a list with an entry for each "
                      "call");
    fake_log_call(p->log);
    uint64_t index = fake_log_next(p->log);
    if (index >= allm_json_count(script))
        return refuse(sink, ALLM_ERR_ADAPTER, "no_scripted_response",
                      "no scripted response");
    return choose(p, allm_json_at(script, (size_t)index), sink);
}

static allm_status next(void *state, const allm_call *call, allm_sink *sink,
                        int64_t *again_ns)
{
    struct painter *p = state;
    *again_ns = INT64_MAX;
    if (!answer_open(&p->answer, call, sink))
        return ALLM_OK;
    document_result(&p->answer, p->images);
    if (call->model)
        answer_model(&p->answer, slice_of(call->model));
    allm_status status = answer_close(&p->answer);
    return status < 0 ? status : ALLM_EVENT;
}

static void close(void *state, const allm_call *call)
{
    struct painter *p = state;
    (void)call;
    fake_log_release(p->log);
}

const allm_adapter fake_image_adapter = {
    .size = sizeof(allm_adapter),
    .name = "fake_image",
    .state_size = sizeof(struct painter),
    .open = open,
    .next = next,
    .close = close,
};
