/* responses_quirks.c - differences between servers of /responses */
#include "provider/openai/responses_quirks.h"

#include "provider/quirks.h"

static const struct quirks_name names[] = {
    { "azure_paths", RESPONSES_AZURE_PATHS },
    { "chat_format", RESPONSES_CHAT_FORMAT },
    { "no_include", RESPONSES_NO_INCLUDE },
    { "no_store", RESPONSES_NO_STORE },
    { NULL, 0 },
};

bool openai_responses_quirks(const allm_call *call, uint64_t *out,
                             const char **unknown)
{
    return quirks_read(names, call, out, unknown);
}
