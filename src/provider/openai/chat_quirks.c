/* chat_quirks.c - differences between servers of /chat/completions */
#include "provider/openai/chat_quirks.h"

#include "provider/quirks.h"

static const struct quirks_name names[] = {
    { "no_stream_options", CHAT_NO_STREAM_OPTIONS },
    { "max_tokens", CHAT_OLD_MAX_TOKENS },
    { "max_completion_tokens", CHAT_NEW_MAX_TOKENS },
    { "strict_unknown_fields", CHAT_STRICT_FIELDS },
    { "short_tool_ids", CHAT_SHORT_IDS },
    { "limited_tool_ids", CHAT_LIMITED_IDS },
    { "replay_reasoning", CHAT_REPLAY_REASONING },
    { "empty_content", CHAT_EMPTY_CONTENT },
    { "think_tags", CHAT_THINK_TAGS },
    { "think_inside", CHAT_THINK_TAGS | CHAT_THINK_INSIDE },
    { "azure_paths", CHAT_AZURE_PATHS },
    { NULL, 0 },
};

bool openai_chat_quirks(const allm_call *call, uint64_t *out,
                        const char **unknown)
{
    return quirks_read(names, call, out, unknown);
}
