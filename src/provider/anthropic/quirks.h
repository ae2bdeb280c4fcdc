/*
 * quirks.h - how servers of /v1/messages differ
 *
 * Quirks are bits of a provider's row, or names in the list "quirks" of
 * adapter_opts.
 */
#ifndef PROVIDER_ANTHROPIC_QUIRKS_H
#define PROVIDER_ANTHROPIC_QUIRKS_H

#include "allm.h"

enum anthropic_quirk {
    ANTHROPIC_UNSIGNED_THOUGHTS = 1 << 0    /* accepts its thoughts back
                                               without a signature */
};

/* The quirks of a call: its provider's and the named ones.  False: *unknown, in
 * the caller's options, is not the name of a quirk. */
bool anthropic_quirks(const allm_call *call, uint64_t *out,
                      const char **unknown);

#endif
