/* step_result.c - the result of one turn */
#include "data/step_result.h"

#include "base/status.h"
#include "data/error.h"
#include "data/message.h"
#include "data/metadata.h"
#include "data/noun.h"
#include "data/response.h"
#include "data/thread.h"

static const struct shape_field fields[] = {
    FIELD_THREAD(step_result, thread, thread_own),
    FIELD_ONE(step_result, response, response_shape, 0),
    FIELD_MANY(step_result, tool_results, tool_result_count, message_shape, 0),
    { NAMED("done?"), .kind = SHAPE_FLAG,
      .at = offsetof(allm_step_result, done) },
    FIELD(step_result, metadata, SHAPE_MAP),
    FIELD_ONE(step_result, error, error_shape, SHAPE_LIFTED),
    FIELD_END,
};

/* Add the calls of the metadata with their types. */
static const allm_error *settle_step(struct allm_home *home, void *value)
{
    allm_step_result *r = value;
    struct metadata_calls manual = { 0 }, unresolved = { 0 };
    if (!metadata_read_calls(home, r->metadata, METADATA_MANUAL, &manual) ||
        !metadata_read_calls(home, r->metadata, METADATA_UNRESOLVED,
                             &unresolved))
        return status_nomem();
    r->manual_tool_calls = manual.calls;
    r->manual_tool_call_count = manual.count;
    r->unresolved_tool_calls = unresolved.calls;
    r->unresolved_tool_call_count = unresolved.count;
    return NULL;
}

const struct shape step_result_shape = {
    SHAPE_OF(step_result, "ALLM.StepResult"),
    .failure = offsetof(allm_step_result, error),
    .fields = fields,
    .counted = true,
    .settle = settle_step,
};

NOUN_FUNCTIONS(step_result)
