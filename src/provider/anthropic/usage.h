/*
 * usage.h - the counts of Anthropic
 *
 * They come twice: the input's with the first event, the output's with the
 * last, which may repeat the others.
 */
#ifndef PROVIDER_ANTHROPIC_USAGE_H
#define PROVIDER_ANTHROPIC_USAGE_H

#include "allm.h"
#include "base/arena.h"

/* What both say: members of `more` that are not null over those of `known`
 * (or NULL), in the arena; NULL: neither says anything, or no memory. */
const allm_json *anthropic_usage_merge(struct arena *a, const allm_json *known,
                                       const allm_json *more);

/*
 * As ours; what has no place in it goes to `extra`, in the arena.  `begun`:
 * it is of the first event, where the count of output is only a beginning.
 */
allm_usage anthropic_usage_read(struct arena *a, const allm_json *usage,
                                bool begun);

#endif
