/* step.h - one turn: an answer and the tools that it calls */
#pragma once

#include "run/machine.h"
#include "run/setup.h"

/* The data that differ from turn to turn. */
struct step_turn {
    const struct options *options;  /* of this pass */
    const allm_thread *thread;
    size_t checked_count;       /* leading messages that are valid */
    uint32_t index, max;
    int pass;                   /* 2: the second one of structured_finalize */
    const allm_json *counts;    /* for the journal; NULL: {} */
    bool no_tools;              /* the model sees no tools */
    uint64_t reserved;          /* tokens reserved from the budget */
    const allm_journal_replay *replay;  /* instead of a model call; or NULL */
    struct arena *arena;        /* empty; NULL: the step uses its own */
};

/*
 * A machine for one turn; the setup must outlive it.  NULL: out of memory.  If
 * the turn cannot begin, the machine fails at its first next(), and error()
 * returns the reason at once.
 */
struct machine *step_machine(struct setup *u, const struct step_turn *turn);

/* Reserve what this turn may need from the budget.  Returns NULL, or the name
 * of the limit that forbids it. */
const char *step_reserve_budget(struct setup *u, struct step_turn *turn);

/* After the end: the context, the result, and the tool result that halts the
 * chat or NULL.  They are borrowed and valid until the machine is freed. */
const allm_context *step_context(const struct machine *m);
const allm_step_result *step_result(const struct machine *m);
const struct tool_result *step_halt(const struct machine *m);
/* The home of the result, for a caller that needs it longer. */
struct allm_home *step_home(const struct machine *m);
/* Did the deadline of the whole call pass while the tools ran? */
bool step_hit_deadline(const struct machine *m);
/* Calls of a replayed turn that may or may not have had their effect. */
const allm_tool_call *const *step_unknown_calls(const struct machine *m,
                                                size_t *count);
