/*
 * ops.c - the operations of scenario files: one table
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

    { "session_new", "session", NULL },
    { "session_start", "messages input opts", NULL },
    { "session_stream_start", "messages input opts take", NULL },
    { "session_reply", "text opts", NULL },
    { "session_stream_reply", "text opts take", NULL },
    { "session_continue", "message opts", NULL },
    { "session_step", "input opts", NULL },
    { "session_stream_step", "input opts take", NULL },
    { "session_submit", "id content opts", NULL },
    { "session_submit_many", "results opts", NULL },
    { "session_append", "message", NULL },
    { "restart", "", NULL },

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
