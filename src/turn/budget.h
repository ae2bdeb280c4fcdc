/* budget.h - what loops may use together */
#ifndef TURN_BUDGET_H
#define TURN_BUDGET_H

#include "allm.h"

/*
 * Take out what a call of the model may need, or n calls of tools: NULL; or
 * the name of the limit that forbids it ("max_tokens", ...).  `need` 0: as the
 * budget's own option says.  *taken is to be given to budget_settle().
 */
const char *budget_take(allm_budget *b, int64_t now_ns, uint64_t need,
                        uint64_t *taken);
const char *budget_take_tools(allm_budget *b, int64_t now_ns, uint64_t n);

/* The call is over: what it used stays out, the rest is put back. */
void budget_settle(allm_budget *b, uint64_t taken, const allm_usage *used);

#endif
