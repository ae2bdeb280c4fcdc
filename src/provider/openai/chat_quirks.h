/*
 * chat_quirks.h - differences between servers of /chat/completions
 *
 * See provider/quirks.h.
 */
#ifndef PROVIDER_OPENAI_CHAT_QUIRKS_H
#define PROVIDER_OPENAI_CHAT_QUIRKS_H

#include "allm.h"

enum openai_chat_quirk {
    CHAT_NO_STREAM_OPTIONS = 1 << 0,    /* rejects stream_options */
    CHAT_OLD_MAX_TOKENS    = 1 << 1,    /* "max_tokens" for every model */
    CHAT_NEW_MAX_TOKENS    = 1 << 2,    /* "max_completion_tokens" */
    CHAT_STRICT_FIELDS     = 1 << 3,    /* rejects unknown members */
    CHAT_SHORT_IDS         = 1 << 4,    /* ids of calls: 9 letters or digits */
    CHAT_LIMITED_IDS       = 1 << 5,    /* ids of calls: 40 bytes at most */
    CHAT_REPLAY_REASONING  = 1 << 6,    /* needs its reasoning_content back */
    CHAT_EMPTY_CONTENT     = 1 << 7,    /* empty content is "", not null */
    CHAT_THINK_TAGS        = 1 << 8,    /* <think> in the text is reasoning */
    CHAT_THINK_INSIDE      = 1 << 9,    /* ...and the first tag is missing */
    CHAT_AZURE_PATHS       = 1 << 10    /* each deployment has a path */
};

/* As quirks_read(), with the names of this dialect. */
bool openai_chat_quirks(const allm_call *call, uint64_t *out,
                        const char **unknown);

#endif
