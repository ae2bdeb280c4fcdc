/* demo_tools.h - the three tools of the demo */
#ifndef CLI_DEMO_TOOLS_H
#define CLI_DEMO_TOOLS_H

#include "allm.h"

/* clock and folder read from this machine; favourite asks the user. */
const allm_tool *const *demo_tools(void);

#endif
