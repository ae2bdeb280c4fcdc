/*
 * responses_quirks.h - how servers of /responses differ
 *
 * Bits of a provider's row, or names in the "quirks" list of adapter_opts.
 */
#ifndef PROVIDER_OPENAI_RESPONSES_QUIRKS_H
#define PROVIDER_OPENAI_RESPONSES_QUIRKS_H

#include "allm.h"

enum openai_responses_quirk {
    RESPONSES_AZURE_PATHS = 1 << 0, /* /openai/v1/responses */
    RESPONSES_NO_INCLUDE  = 1 << 1, /* reasoning cannot be asked for sealed */
    RESPONSES_NO_STORE    = 1 << 2, /* refuses "store" */
    RESPONSES_CHAT_FORMAT = 1 << 3  /* reads "response_format" as
                                       /chat/completions has it */
};

/* The quirks of a call: its provider's and the named ones.  False: *unknown,
 * in the caller's options, is no name of a quirk. */
bool openai_responses_quirks(const allm_call *call, uint64_t *out,
                             const char **unknown);

#endif
