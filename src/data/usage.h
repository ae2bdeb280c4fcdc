/* usage.h - the tokens and cost of a call */
#pragma once

#include "data/shape.h"

extern const struct shape usage_shape;

/* Replace each count of `to` by that of `from`, if it is set; maps are left to
 * the caller.  False: none is set. */
bool usage_lay(allm_usage *to, const allm_usage *from);

/* Add the counts.  NULL adds nothing. */
void usage_sum(allm_usage *sum, const allm_usage *u);

/* How many tokens of total_tokens are neither in input_tokens nor in
 * output_tokens; 0 if none, or if one of the three is not set. */
int64_t usage_remainder(const allm_usage *u);
