/* recipe.h - a tool composed of others: serial steps, then parallel steps */
#pragma once

#include "tool/run.h"

enum { RECIPE_PARALLEL = 3 };           /* parallel steps at a time */

/* Called when a step begins; phase is "serial" or "parallel". */
typedef void (*recipe_trace_fn)(void *ud, const allm_tool_call *call,
                                const char *label, const char *phase);

struct recipe_opts {
    const allm_executor *executor;      /* runs the steps */
    size_t tool_count;
    const allm_tool *const *tools;      /* declarations for the steps */
    int64_t timeout_ns;                 /* of each step */
    recipe_trace_fn trace;              /* or NULL */
    void *trace_ud;
};

struct recipe;

/*
 * Make the plan for this run's arguments.  Everything is in run->shared->home.
 * NULL: out of memory.
 */
struct recipe *recipe_new(struct allm_tool_run *run, const allm_recipe *source,
                          const struct recipe_opts *opts);

/*
 * Make progress.  EVENT: the recipe is done and *out is its outcome; kind NONE:
 * the tool itself must run instead.  AGAIN: as run_poll().
 */
allm_status recipe_poll(struct recipe *r, struct outcome *out,
                        int64_t *again_ns);

/* Stop waiting for its steps. */
void recipe_abandon(struct recipe *r);
