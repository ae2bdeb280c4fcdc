/*
 * quirks.h - how models of /api/chat differ
 *
 * Quirks are bits of a provider's row, or names in the list "quirks" of
 * adapter_opts.
 */
#ifndef PROVIDER_OLLAMA_QUIRKS_H
#define PROVIDER_OLLAMA_QUIRKS_H

#include "allm.h"

enum ollama_quirk {
    OLLAMA_THINK_TAGS   = 1 << 0,   /* <think> in the text is reasoning */
    OLLAMA_THINK_INSIDE = 1 << 1    /* ...and the opening tag is missing */
};

/* The quirks of a call: its provider's and the named ones.  False: *unknown, in
 * the caller's options, is not the name of a quirk. */
bool ollama_quirks(const allm_call *call, uint64_t *out, const char **unknown);

#endif
