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
    { "session_start", "messages thread input opts", op_session_start },
    { "session_stream_start", "messages thread input opts take",
      op_session_stream_start },
    { "session_reply", "text opts", op_session_reply },
    { "session_stream_reply", "text opts take", op_session_stream_reply },
    { "session_continue", "message opts", op_session_continue },
    { "session_step", "messages thread input opts", op_session_step },
    { "session_stream_step", "messages thread input opts take",
      op_session_stream_step },
    { "session_submit", "id content opts", op_session_submit },
    { "session_submit_many", "results opts", op_session_submit_many },
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

const struct op *ops_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].name, name))
            return &ops[i];
    return NULL;
}
