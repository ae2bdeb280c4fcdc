/*
 * ops.c - the table of the operations of scenario files
 *
 * A new operation is a function in a file op_X.c, its name in ops.h, and a row
 * here.
 */
#include "ops.h"

#include <string.h>

static const struct op ops[] = {
    { "generate", "request messages opts", op_generate },
    { "stream_generate", "request messages opts take", op_stream_generate },

    { "step", "messages thread input opts", op_step },
    { "stream_step", "messages thread input opts take", op_stream_step },
    { "chat", "messages thread input opts", op_chat },
    { "stream", "messages thread input opts take", op_stream },
    { "agent_loop", "messages thread input opts", op_agent_loop },

    { "session_new", "session", op_session_new },
    { "session_start", "messages thread input opts crash_at",
      op_session_start },
    { "session_stream_start", "messages thread input opts take crash_at",
      op_session_stream_start },
    { "session_reply", "text opts crash_at", op_session_reply },
    { "session_stream_reply", "text opts take crash_at",
      op_session_stream_reply },
    { "session_continue", "message opts crash_at", op_session_continue },
    { "session_step", "messages thread input opts crash_at", op_session_step },
    { "session_stream_step", "messages thread input opts take crash_at",
      op_session_stream_step },
    { "session_submit", "id content opts", op_session_submit },
    { "session_submit_many", "results opts", op_session_submit_many },
    { "session_approve", "id allow why", op_session_approve },
    { "session_append", "message", op_session_append },
    { "restart", "", op_restart },

    { "resolve_params", "opts", op_resolve_params },
    { "resolve_tools", "opts", op_resolve_tools },
    { "resolve_model", "opts", op_resolve_model },
    { "merge_opts", "opts", op_merge_opts },

    { "validate", "type value", op_validate },
    { "round_trip", "value as", op_round_trip },
    { "encode", "value as", op_round_trip },
    { "decode", "text as", op_decode },
    { "collect", "events into thread", op_collect },
};

static const struct op stored_ops[] = {
    { "session_resume", "opts take crash_at", op_session_resume },
    { "session_settle", "tool_call_id how result", op_session_settle },
    { "session_abandon", "", op_session_abandon },
    { "session_fork", "seq name", op_session_fork },
    { "session_records", "from limit", op_session_records },
    { "follow", "cursor until", op_follow },
};

static const struct op *find_in(const struct op *list, size_t count,
                                const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

const struct op *ops_find(const char *name)
{
    const struct op *op = find_in(ops, sizeof ops / sizeof *ops, name);
    return op ? op : ops_find_stored(name);
}

const struct op *ops_find_stored(const char *name)
{
    return find_in(stored_ops, sizeof stored_ops / sizeof *stored_ops, name);
}
