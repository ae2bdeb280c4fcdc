/* chat_result.c - the result of a whole chat, and why it ended */
#include "data/chat_result.h"

#include "base/status.h"
#include "data/error.h"
#include "data/metadata.h"
#include "data/noun.h"
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

/* The calls of the metadata, with their types. */
static bool read_calls(struct allm_home *home, allm_chat_result *r)
{
    struct metadata_calls manual = { 0 }, unresolved = { 0 }, unknown = { 0 };
    const allm_json *m = r->metadata;
    bool read = metadata_read_calls(home, m, METADATA_MANUAL, &manual) &&
                metadata_read_calls(home, m, METADATA_UNRESOLVED,
                                    &unresolved) &&
                metadata_read_calls(home, m, METADATA_UNKNOWN, &unknown);
    r->manual_tool_calls = manual.calls;
    r->manual_tool_call_count = manual.count;
    r->unresolved_tool_calls = unresolved.calls;
    r->unresolved_tool_call_count = unresolved.count;
    r->unknown_tool_calls = unknown.calls;
    r->unknown_tool_call_count = unknown.count;
    return read;
}

static const allm_error *settle_chat(struct allm_home *home, void *value)
{
    allm_chat_result *r = value;
    const allm_json *passes = allm_json_get(r->metadata, "structured_finalize");
    bool read = read_calls(home, r) &&
                metadata_read_error(home, passes, "pass_2_error",
                                    &r->pass_2_error);
    return read ? NULL : status_nomem();
}

const struct shape chat_result_shape = {
    SHAPE_OF(chat_result, "ALLM.ChatResult"),
    .failure = offsetof(allm_chat_result, error),
    .fields = fields,
    .counted = true,
    .settle = settle_chat,
};

NOUN_FUNCTIONS(chat_result)

bool allm_chat_result_halted(const allm_chat_result *result)
{
    return !result || !MEM_REACHES(result, halted_reason) ||
           !result->halted_reason ||
           strcmp(result->halted_reason, HALTED_COMPLETED) != 0;
}
