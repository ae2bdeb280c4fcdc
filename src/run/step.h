/* step.h - one turn: an answer, the tools it asks for, what follows */
#ifndef RUN_STEP_H
#define RUN_STEP_H

#include "run/machine.h"
#include "run/setup.h"

/* What differs from turn to turn. */
struct step_turn {
    const struct options *options;  /* of this pass */
    const allm_thread *thread;
    size_t checked_count;                 /* of its messages: known to be fine */
    uint32_t index, max;
    bool no_tools;                  /* the model sees none */
    uint64_t reserved;                 /* out of the budget, for this call */
    const allm_journal_replay *replay;      /* in place of asking; or NULL */
    struct arena *arena;            /* of the turn, empty; NULL: its own */
};

/*
 * A machine for one turn; the setup outlives it.  NULL: no memory.  One that
 * could not begin fails at its first next(); its error() says why at once.
 */
struct machine *step_machine(struct setup *u, const struct step_turn *turn);

/* Take what this turn may need out of the budget.  NULL, or the limit that
 * forbids it. */
const char *step_reserve_budget(struct setup *u, struct step_turn *turn);

/* Once it has ended: how, its result, and the tool result that halts the chat
 * or NULL; borrowed, valid until the machine is freed. */
const allm_context *step_context(const struct machine *m);
const allm_step_result *step_result(const struct machine *m);
const struct tool_result *step_halt(const struct machine *m);
/* What the result lives in, for a caller that needs it longer. */
struct allm_home *step_home(const struct machine *m);
/* Was the time of the whole call over while its tools ran? */
bool step_hit_deadline(const struct machine *m);
/* Writes of a replayed turn that may or may not have happened. */
const allm_tool_call *const *step_unknown_calls(const struct machine *m,
                                                size_t *count);

#endif
