/* response.c - a model's response */
#include "data/response.h"

#include "data/encode.h"
#include "data/error.h"
#include "data/message.h"
#include "data/tool_call.h"
#include "data/usage.h"

const struct shape_words response_finish_words = WORDS(
    NULL, "stop", "length", "tool_calls", "content_filter", "error", "other");

static const struct shape_field fields[] = {
    FIELD(response, id, SHAPE_TEXT),
    FIELD(response, request_id, SHAPE_TEXT),
    FIELD(response, model, SHAPE_TEXT),
    FIELD_ONE(response, message, message_shape, 0),
    FIELD_BYTES(response, output_text, output_len, 0),
    FIELD_MANY(response, tool_calls, tool_call_count, tool_call_shape, 0),
    FIELD_ENUM(response, finish_reason, response_finish_words, 0),
    FIELD(response, raw_finish_reason, SHAPE_TEXT),
    FIELD_ONE(response, usage, usage_shape, SHAPE_FILLED),
    FIELD(response, raw, SHAPE_ANY),
    FIELD(response, metadata, SHAPE_MAP),
    FIELD_ONE(response, error, error_shape, SHAPE_LIFTED),
    FIELD_END,
};

const struct shape response_shape = {
    .tag = "ALLM.Response",
    .noun = "response",
    .size = sizeof(allm_response),
    .kept = offsetof(allm_response, kept),
    .failure = offsetof(allm_response, error),
    .fields = fields,
    .counted = true,
};

allm_response *allm_response_new(const allm_response *given)
{
    return shape_new(&response_shape, given);
}

void allm_response_free(allm_response *response)
{
    shape_free(response);
}

const allm_error *allm_response_error(const allm_response *response)
{
    return shape_failure(&response_shape, response);
}

allm_text *allm_response_json(const allm_response *response, allm_form form)
{
    return encode_to_text(&response_shape, response, form);
}

const char *allm_response_text(const allm_response *response, size_t *len)
{
    struct slice text = { NULL, 0 };
    const allm_message *m = NULL;
    if (response && MEM_REACHES(response, output_text)) {
        text = shape_text(response->output_text, response->output_len);
        m = response->message;
    }
    if (!text.ptr && m && MEM_REACHES(m, text))
        text = shape_text(m->text, m->text_len);
    if (len)
        *len = text.len;
    return text.ptr;
}
