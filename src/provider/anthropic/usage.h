/*
 * usage.h - convert Anthropic's usage to ours
 *
 * Usage arrives twice: input tokens with the first event, output tokens with
 * the last one, which may repeat the others.
 */
#pragma once

#include "allm.h"
#include "base/arena.h"

/* Merge two usages, in the arena: members of `more` that are not null replace
 * those of `previous` (which may be NULL).  NULL: both are empty, or out of
 * memory. */
const allm_json *anthropic_usage_merge(struct arena *a,
                                       const allm_json *previous,
                                       const allm_json *details);

/*
 * Convert a usage; members without a field are in `extra`, in the arena.
 * `is_first`: it is from the first event, whose output count is not final.
 */
allm_usage anthropic_usage_read(struct arena *a, const allm_json *usage,
                                bool is_first);
