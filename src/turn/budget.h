/* budget.h - reserve and account for the use of a shared budget */
#pragma once

#include "allm.h"

/*
 * Reserve the tokens that a request may need, or count n tool calls.  Returns
 * NULL, or the name of the limit that forbids it ("max_tokens", ...).  `need`
 * 0: the budget's reserve_tokens.  The caller passes *taken to
 * budget_settle().
 */
const char *budget_take(allm_budget *b, int64_t now_ns, uint64_t need,
                        uint64_t *taken);
const char *budget_take_tools(allm_budget *b, int64_t now_ns, uint64_t n);

/* The request is over: count its actual use, and release the reservation. */
void budget_settle(allm_budget *b, uint64_t taken, const allm_usage *used);
