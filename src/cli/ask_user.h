/* ask_user.h - a tool by which a model asks the user back */
#ifndef CLI_ASK_USER_H
#define CLI_ASK_USER_H

#include "allm.h"

/* A list of one. */
const allm_tool *const *ask_user_tools(void);

#endif
