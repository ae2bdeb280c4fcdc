/*
 * quirks.h - how servers of one dialect differ
 *
 * Bits of a provider's row, or names in the "quirks" list of adapter_opts.  A
 * dialect has a table of the names; the empty one ends it.
 */
#ifndef PROVIDER_QUIRKS_H
#define PROVIDER_QUIRKS_H

#include "allm.h"
#include "base/arena.h"

struct quirks_name {
    const char *name;
    uint64_t quirk;
};

/* The quirks of a call: its provider's and the named ones.  False: *unknown,
 * in the caller's options, is no name of a quirk. */
bool quirks_read(const struct quirks_name *names, const allm_call *call,
                 uint64_t *out, const char **unknown);

/* The error of an unknown one, which names one that is known; never NULL. */
const allm_error *quirks_refuse(struct arena *a, const char *unknown,
                                const char *known);

#endif
