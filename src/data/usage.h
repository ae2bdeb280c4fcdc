/* usage.h - what a call cost, in tokens and money */
#ifndef DATA_USAGE_H
#define DATA_USAGE_H

#include "data/shape.h"

extern const struct shape usage_shape;

/* What `from` knows replaces what `to` says, count by count; maps are left to
 * the caller.  False: it knows nothing. */
bool usage_lay(allm_usage *to, const allm_usage *from);

/* The counts of both together.  NULL adds nothing. */
void usage_sum(allm_usage *sum, const allm_usage *u);

/* How many tokens total_tokens has that are neither in input_tokens nor in
 * output_tokens; 0: none, or one of the three is not set. */
int64_t usage_remainder(const allm_usage *u);

#endif
