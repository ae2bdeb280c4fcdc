/* cost.h - what a call may cost at most */
#pragma once

#include "cli/target.h"

/* In US dollars, for an input of `bytes`; -1: the price is not known.  answers:
 * the model writes an answer, of at most the max_tokens in the options. */
double cost_at_most(const struct target *t, const allm_json *options,
                    size_t bytes, bool answers);

/* May a call with this conversation and prompt cost more than `most`?  Returns
 * END_DONE, or an exit code after an error was printed.  0: no limit. */
int cost_check(const struct target *t, const allm_thread *thread,
               const allm_thread *prompt, double most);

/* What calls together may cost, in US dollars. */
struct cost_limit {
    double most; /* 0: no limit */
    double spent, reserved;
};

/* Reserve an amount.  False: it would be too much. */
bool cost_reserve(struct cost_limit *b, double amount);
/* A call has ended: replace what was reserved by what it cost.  usage: or
 * NULL. */
void cost_settle(struct cost_limit *b, double reserved,
                 const allm_usage *usage);
