/* spent.h - what all answers of a chat used, together */
#ifndef CLI_SPENT_H
#define CLI_SPENT_H

#include "allm.h"

/* A root; NULL: there was no answer, or no memory. */
allm_usage *spent_by(const allm_chat_result *result);

#endif
