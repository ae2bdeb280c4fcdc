/* executor.h - who runs the calls */
#ifndef TOOL_EXECUTOR_H
#define TOOL_EXECUTOR_H

#include "allm.h"
#include "base/arena.h"

/* The table that will run this tool: of a composition, the first that offers
 * it; *known false: none does.  NULL is the tool's own function. */
const allm_executor *executor_pick(const allm_executor *e, const char *name,
                                   bool *known);

/* How it declares the tool; NULL: it does not. */
const allm_tool *executor_tool(const allm_executor *e, const char *name);

/* The tools, and behind them what the executor offers under other names; NULL:
 * no memory. */
const allm_tool *const *executor_tools(const allm_executor *e, struct arena *a,
                                       const allm_tool *const *tools,
                                       size_t *count);

/* The recipe of this tool; fn NULL: none. */
allm_recipe executor_recipe(const allm_executor *e, const char *name);

#endif
