/*
 * responses_quirks.h - differences between servers of /responses
 *
 * See provider/quirks.h.
 */
#ifndef PROVIDER_OPENAI_RESPONSES_QUIRKS_H
#define PROVIDER_OPENAI_RESPONSES_QUIRKS_H

#include "allm.h"

enum openai_responses_quirk {
    RESPONSES_AZURE_PATHS = 1 << 0, /* /openai/v1/responses */
    RESPONSES_NO_INCLUDE  = 1 << 1, /* rejects requests for encrypted
                                       reasoning */
    RESPONSES_NO_STORE    = 1 << 2, /* rejects "store" */
    RESPONSES_CHAT_FORMAT = 1 << 3  /* reads "response_format" as
                                       /chat/completions does */
};

/* As quirks_read(), with the names of this dialect. */
bool openai_responses_quirks(const allm_call *call, uint64_t *out,
                             const char **unknown);

#endif
