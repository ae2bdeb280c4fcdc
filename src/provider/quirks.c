/* quirks.c - differences between servers of the same dialect */
#include "provider/quirks.h"

#include "base/status.h"
#include "json/json.h"

/* The first name of each table is the example in errors. */
const struct quirks_name quirks_chat[] = {
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

const struct quirks_name quirks_responses[] = {
    { "no_include", RESPONSES_NO_INCLUDE },
    { "no_store", RESPONSES_NO_STORE },
    { "azure_paths", RESPONSES_AZURE_PATHS },
    { "chat_format", RESPONSES_CHAT_FORMAT },
    { NULL, 0 },
};

const struct quirks_name quirks_anthropic[] = {
    { "unsigned_thoughts", ANTHROPIC_UNSIGNED_THOUGHTS },
    { NULL, 0 },
};

const struct quirks_name quirks_ollama[] = {
    { "think_tags", OLLAMA_THINK_TAGS },
    { "think_inside", OLLAMA_THINK_TAGS | OLLAMA_THINK_INSIDE },
    { NULL, 0 },
};

static uint64_t find_quirk(const struct quirks_name *n, const allm_json *name)
{
    while (n->name && !json_is(name, n->name))
        n++;
    return n->quirk;
}

uint64_t quirks_read(const struct quirks_name *names, const allm_call *call)
{
    const allm_json *list = allm_json_get(call->adapter_opts, "quirks");
    uint64_t all = call->quirks;
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return all;
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
        all |= find_quirk(names, v);
    return all;
}

const allm_error *quirks_check(const struct quirks_name *names,
                               const allm_call *call, struct arena *a)
{
    const allm_json *list = allm_json_get(call->adapter_opts, "quirks");
    bool is_list = json_is_type(list, ALLM_JSON_ARRAY);
    const char *unknown = list && !is_list ? "(not a list)" : NULL;
    for (const allm_json *v = NULL; is_list && (v = allm_json_next(list, v));)
        if (!find_quirk(names, v))
            unknown = json_is_type(v, ALLM_JSON_TEXT) ? json_slice(v).ptr
                                                      : "(not a string)";
    return unknown ? status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                                  "quirks: \"%s\" is unknown; quirks must be "
                                  "a list of names such as \"%s\"",
                                  unknown, names->name)
                   : NULL;
}
