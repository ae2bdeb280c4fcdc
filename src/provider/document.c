/* document.c - answers that are one document: what dialects of tasks share */
#include "provider/document.h"

#include "provider/openai_error.h"
#include "provider/sink.h"
#include "json/parse.h"

/* A frame that is no document: cut, or odd. */
static allm_status reject(struct answer *a, const allm_json *document,
                          struct slice data)
{
    struct json_limits limits;
    const allm_error *error = NULL;
    bool ended = true;
    json_limits_from(&limits, NULL);
    if (!document)
        json_partial(a->sink->arena, data, limits, &ended, &error);
    if (error && error->kind == ALLM_ERR_NOMEM)
        return a->sink->status = ALLM_ERR_NOMEM;
    return !error && !ended
               ? answer_truncated(a, "the answer broke off in the middle of "
                                     "its JSON document")
               : answer_malformed(a, "the answer is no JSON object; is "
                                     "base_url right?");
}

const allm_json *document_open(struct answer *a, const allm_call *call,
                               const allm_frame *frame, allm_sink *sink,
                               allm_status *status)
{
    *status = ALLM_OK;
    if (!answer_open(a, call, sink))
        return NULL;
    const allm_json *document = allm_sink_parse(sink, frame->data,
                                                frame->data_len);
    if (sink->status < 0) {
        *status = sink->status;
        return NULL;
    }
    if (openai_error_is(document)) {
        allm_error e = openai_error_read(sink->arena, document, 0);
        *status = answer_fail(a, &e);
        return NULL;
    }
    if (allm_json_type_of(document) == ALLM_JSON_OBJECT)
        return document;
    *status = reject(a, document,
                     (struct slice){ frame->data,
                                                 frame->data_len });
    return NULL;
}

void document_result(struct answer *a, const allm_json *result)
{
    answer_raw(a, result);
}

allm_status document_finish(void *answer, const allm_call *call,
                            allm_sink *sink)
{
    struct answer *a = answer;
    if (!answer_open(a, call, sink))
        return ALLM_OK;
    return answer_truncated(a, "the answer ended before anything was said");
}
