/* ask_back.h - a tool by which a model asks the user back */
#ifndef CLI_ASK_BACK_H
#define CLI_ASK_BACK_H

#include "allm.h"

/* A list of one. */
const allm_tool *const *ask_back_tools(void);

#endif
