/* batch_cost.h - what the requests of a batch may cost: --max-cost */
#ifndef CLI_BATCH_COST_H
#define CLI_BATCH_COST_H

#include "cli/batch_call.h"

/* Money, in US dollars. */
struct batch_cost {
    double most; /* 0: no limit */
    double spent, reserved;
};

/* What a line of this length may cost at most; -1: not known. */
double batch_cost_of(const struct batch_call *c, size_t len);

/* Reserve an amount.  False: it would be too much. */
bool batch_cost_reserve(struct batch_cost *b, double amount);
/* A request has ended: replace what was reserved by what it cost.  usage: or
 * NULL. */
void batch_cost_settle(struct batch_cost *b, double reserved,
                       const allm_usage *usage);

#endif
