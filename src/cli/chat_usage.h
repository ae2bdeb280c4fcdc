/* chat_usage.h - add up the usage of all answers of a chat */
#pragma once

#include "allm.h"

/* The sum, which the caller frees; NULL: no answer, or out of memory. */
allm_usage *chat_usage_total(const allm_chat_result *result);
