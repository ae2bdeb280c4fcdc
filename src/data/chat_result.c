/* chat_result.c - the result of a whole chat, and why it ended */
#include "data/chat_result.h"

#include "data/encode.h"
#include "data/error.h"
#include "data/response.h"
#include "data/step_result.h"
#include "data/thread.h"

static const struct shape_field fields[] = {
    FIELD_THREAD(chat_result, thread, thread_own),
    FIELD_ONE(chat_result, final_response, response_shape, 0),
    FIELD_MANY(chat_result, steps, step_count, step_result_shape, 0),
    FIELD(chat_result, halted_reason, SHAPE_TEXT),
    FIELD(chat_result, pending_question, SHAPE_TEXT),
    FIELD(chat_result, pending_tool_call_id, SHAPE_TEXT),
    FIELD(chat_result, metadata, SHAPE_MAP),
    FIELD_ONE(chat_result, error, error_shape, SHAPE_LIFTED),
    FIELD_END,
};

const struct shape chat_result_shape = {
    .tag = "ALLM.ChatResult",
    .noun = "chat_result",
    .size = sizeof(allm_chat_result),
    .kept = offsetof(allm_chat_result, kept),
    .fields = fields,
    .counted = true,
};

allm_chat_result *allm_chat_result_new(const allm_chat_result *given)
{
    return shape_new(&chat_result_shape, given);
}

void allm_chat_result_free(allm_chat_result *result)
{
    shape_free(result);
}

const allm_error *allm_chat_result_error(const allm_chat_result *result)
{
    return shape_error(result);
}

allm_text *allm_chat_result_json(const allm_chat_result *result, uint32_t form)
{
    return encode_to_text(&chat_result_shape, result, form);
}

bool allm_chat_result_halted(const allm_chat_result *result)
{
    return !result || !MEM_REACHES(result, halted_reason) ||
           !result->halted_reason ||
           strcmp(result->halted_reason, HALTED_COMPLETED) != 0;
}
