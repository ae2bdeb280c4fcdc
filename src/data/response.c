/* response.c - a model's response */
#include "data/response.h"

#include "data/error.h"
#include "data/message.h"
#include "data/noun.h"
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
    SHAPE_OF(response, "ALLM.Response"),
    .failure = offsetof(allm_response, error),
    .fields = fields,
    .counted = true,
};

NOUN_FUNCTIONS(response)

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
