/*
 * quirks.h - how servers of /v1/messages differ
 *
 * Bits of a provider's row, or names in the "quirks" list of adapter_opts.
 */
#ifndef PROVIDER_ANTHROPIC_QUIRKS_H
#define PROVIDER_ANTHROPIC_QUIRKS_H

#include "allm.h"

enum anthropic_quirk {
    ANTHROPIC_UNSIGNED_THOUGHTS = 1 << 0    /* takes back its thoughts without
                                               a signature */
};

/* The quirks of a call: its provider's and the named ones.  False: *unknown,
 * in the caller's options, is no name of a quirk. */
bool anthropic_quirks(const allm_call *call, uint64_t *out,
                      const char **unknown);

#endif
