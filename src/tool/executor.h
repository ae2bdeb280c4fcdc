/* executor.h - who runs the calls */
#ifndef TOOL_EXECUTOR_H
#define TOOL_EXECUTOR_H

#include "allm_ext.h"

/* The table that will run this tool: of a composition, the first that offers
 * it; *known false: none does.  NULL is the tool's own function. */
const allm_executor *executor_pick(const allm_executor *e, const char *name,
                                   bool *known);

/* How it declares the tool; NULL: it does not. */
const allm_tool *executor_tool(const allm_executor *e, const char *name);

/* The recipe of this tool; fn NULL: none. */
allm_recipe executor_recipe(const allm_executor *e, const char *name);

#endif
