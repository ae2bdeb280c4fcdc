/* document.c - responses that are one JSON document, for dialects of tasks */
#include "provider/document.h"

#include "provider/error_body.h"
#include "provider/http.h"
#include "provider/sink.h"

allm_status document_decode(struct answer *a, const allm_call *call,
                            const allm_frame *frame, allm_sink *sink,
                            document_reader *read)
{
    if (!answer_open(a, call, sink))
        return ALLM_OK;
    const struct slice text = { frame->data, frame->data_len };
    const allm_json *document = allm_sink_parse(sink, text.ptr, text.len);
    if (sink->status < 0)
        return sink->status;
    if (error_body_is(document))
        return answer_fail_as(a, document, error_body_read);
    return allm_json_type_of(document) == ALLM_JSON_OBJECT
               ? read(a, document)
               : answer_not_json(a, text);
}

void document_begin(const struct extra *x, allm_http *http, struct emit *e)
{
    emit_init(e, &http->body);
    emit_open(e, '{');
    if (x->call->model && extra_leaves(x, "model"))
        emit_member(e, "model", x->call->model);
}

void document_write_inputs(struct emit *e, const char *const *inputs,
                           size_t count)
{
    emit_member_open(e, "input", '[');
    for (size_t i = 0; i < count; i++)
        emit_text(e, slice_of(inputs[i]));
    emit_close(e, ']');
}

void document_result(struct answer *a, const allm_json *result)
{
    answer_raw(a, result);
}

allm_status document_answer(struct answer *a, const allm_json *result)
{
    document_result(a, result);
    answer_model(a, slice_of(a->call->model));
    allm_status status = answer_close(a);
    return status < 0 ? status : ALLM_EVENT;
}

allm_status document_finish(void *answer, const allm_call *call,
                            allm_sink *sink)
{
    struct answer *a = answer;
    if (!answer_open(a, call, sink))
        return ALLM_OK;
    return answer_truncated(a, "the response ended before any content "
                               "arrived");
}
