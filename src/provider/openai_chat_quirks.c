/* openai_chat_quirks.c - how servers of /chat/completions differ */
#include "provider/openai_chat_quirks.h"

#include "json/json.h"

static const struct {
    const char *name;
    uint64_t quirk;
} names[] = {
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
};

static uint64_t quirk_named(const allm_json *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is(name, names[i].name))
            return names[i].quirk;
    return 0;
}

bool openai_chat_quirks(const allm_call *call, uint64_t *out,
                        const char **unknown)
{
    const allm_json *list = allm_json_get(call->adapter_opts, "quirks");
    *out = call->quirks;
    *unknown = NULL;
    if (!list)
        return true;
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY) {
        *unknown = "(no list)";
        return false;
    }
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        uint64_t quirk = quirk_named(v);
        const char *text = allm_json_text(v, NULL);
        if (!quirk)
            *unknown = text ? text : "(no text)";
        *out |= quirk;
    }
    return !*unknown;
}
