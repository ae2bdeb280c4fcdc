/* spent.h - what all answers of a chat used, together */
#ifndef CLI_CHAT_USAGE_H
#define CLI_CHAT_USAGE_H

#include "allm.h"

/* A root; NULL: there was no answer, or no memory. */
allm_usage *chat_usage_total(const allm_chat_result *result);

#endif
