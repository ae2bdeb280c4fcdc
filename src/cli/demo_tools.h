/* demo_tools.h - the three tools of the demo */
#pragma once

#include "allm.h"

/* clock and folder read from this machine; favourite asks the user. */
const allm_tool *const *demo_tools(void);
