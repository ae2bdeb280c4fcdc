/*
 * quirks.h - differences between servers of the same dialect
 *
 * A quirk is a bit in the provider's row of the registry, or a name in the
 * "quirks" list of adapter_opts.  A dialect has a table of the names; a NULL
 * name ends it.
 */
#ifndef PROVIDER_QUIRKS_H
#define PROVIDER_QUIRKS_H

#include "allm.h"
#include "base/arena.h"

struct quirks_name {
    const char *name;
    uint64_t quirk;
};

/* The quirks of a call: those of its provider and those in the options.  False:
 * *unknown, borrowed from the options, is not the name of a quirk. */
bool quirks_read(const struct quirks_name *names, const allm_call *call,
                 uint64_t *out, const char **unknown);

/* The error for an unknown quirk, with the name of a known one; never NULL. */
const allm_error *quirks_refuse(struct arena *a, const char *unknown,
                                const char *known);

#endif
