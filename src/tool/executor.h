/* executor.h - choose the executor that runs a call */
#pragma once

#include "allm.h"
#include "base/arena.h"

/* The executor that runs this tool; in a composition, the first that offers it.
 * *known false: none does.  NULL: the tool's own function. */
const allm_executor *executor_pick(const allm_executor *e, const char *name,
                                   bool *known);

/* The executor's declaration of the tool; NULL: it has none. */
const allm_tool *executor_tool(const allm_executor *e, const char *name);

/* `tools`, followed by those of the executor that have other names; NULL: out
 * of memory. */
const allm_tool *const *executor_tools(const allm_executor *e, struct arena *a,
                                       const allm_tool *const *tools,
                                       size_t *count);

/* The recipe of this tool; fn NULL: it has none. */
allm_recipe executor_recipe(const allm_executor *e, const char *name);
