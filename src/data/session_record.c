/* session_record.c - a session as plain data */
#include "data/session_record.h"

#include "base/status.h"
#include "data/error.h"
#include "data/noun.h"
#include "data/thread.h"
#include "data/tool_call.h"

static const struct shape_words status_words =
    WORDS("idle", "awaiting_user", "awaiting_tools", "completed", "error");

static const struct shape_field fields[] = {
    FIELD(session_record, id, SHAPE_TEXT),
    FIELD_THREAD(session_record, thread, thread_own),
    FIELD_ENUM(session_record, status, status_words, 0),
    FIELD_MANY(session_record, pending_tool_calls, pending_tool_call_count,
               tool_call_shape, 0),
    FIELD(session_record, pending_question, SHAPE_TEXT),
    FIELD(session_record, pending_tool_call_id, SHAPE_TEXT),
    FIELD(session_record, context, SHAPE_MAP),
    FIELD(session_record, metadata, SHAPE_MAP),
    FIELD_ONE(session_record, error, error_shape, SHAPE_LIFTED),
    FIELD_END,
};

/* A session always has a thread. */
static const allm_error *settle_session(struct allm_home *home, void *value)
{
    allm_session_record *record = value;
    if (!record->thread)
        record->thread = thread_empty_in(home);
    return record->thread ? NULL : status_nomem();
}

const struct shape session_record_shape = {
    SHAPE_OF(session_record, "ALLM.Session"),
    .failure = offsetof(allm_session_record, error),
    .fields = fields,
    .settle = settle_session,
};

NOUN_FUNCTIONS(session_record)
