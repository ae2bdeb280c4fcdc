/* demo_tools.h - three tools for the demonstration */
#ifndef CLI_DEMO_TOOLS_H
#define CLI_DEMO_TOOLS_H

#include "allm.h"

/* clock and folder look at this machine, favourite asks the user. */
const allm_tool *const *demo_tools(void);

#endif
