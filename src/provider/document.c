/* document.c - answers that are one document: what dialects of tasks share */
#include "provider/document.h"

#include "provider/error_body.h"
#include "provider/sink.h"

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
    if (error_body_is(document)) {
        allm_error e = error_body_read(sink->arena, document, 0);
        *status = answer_fail(a, &e);
        return NULL;
    }
    if (allm_json_type_of(document) == ALLM_JSON_OBJECT)
        return document;
    *status = answer_not_json(a,
                              (struct slice){ frame->data, frame->data_len });
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
