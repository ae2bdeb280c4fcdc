/* recipe.h - a tool that is made of others: serial steps, then parallel ones */
#ifndef TOOL_RECIPE_H
#define TOOL_RECIPE_H

#include "tool/run.h"

enum { RECIPE_PARALLEL = 3 };           /* steps at once */

/* A step begins; phase is "serial" or "parallel". */
typedef void (*recipe_trace_fn)(void *ud, const allm_tool_call *call,
                                const char *label, const char *phase);

struct recipe_opts {
    const allm_executor *executor;      /* runs the steps */
    size_t tool_count;
    const allm_tool *const *tools;      /* where steps look for theirs */
    int64_t timeout_ns;                 /* of each step */
    recipe_trace_fn trace;              /* or NULL */
    void *trace_ud;
};

struct recipe;

/*
 * Make the plan for this run's arguments.  Everything lives in the home of the
 * run's shared.  NULL: no memory.
 */
struct recipe *recipe_new(struct allm_tool_run *run, const allm_recipe *made_by,
                          const struct recipe_opts *opts);

/*
 * Go on.  EVENT: done, and the outcome is in *out; kind NONE: fall back to the
 * tool itself.  AGAIN: as run_look().
 */
allm_status recipe_look(struct recipe *r, struct outcome *out,
                        int64_t *again_ns);

/* Nobody waits for it. */
void recipe_abandon(struct recipe *r);

#endif
