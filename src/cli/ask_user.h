/* ask_user.h - --ask: a tool with which the model asks the user a question */
#pragma once

#include "allm.h"

/* A list with this one tool. */
const allm_tool *const *ask_user_tools(void);
