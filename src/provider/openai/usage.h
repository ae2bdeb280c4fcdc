/* usage.h - the counts of OpenAI and of all who look like it */
#ifndef PROVIDER_OPENAI_USAGE_H
#define PROVIDER_OPENAI_USAGE_H

#include "provider/answer.h"

/* Read a "usage" object, in any of its spellings; what has no place in ours
 * goes to `extra`, in the arena.  False: it says nothing. */
bool openai_usage_read(const allm_json *usage, struct arena *a,
                       allm_usage *out);

/* The same, told to an answer. */
bool openai_usage_take(struct answer *a, const allm_json *usage);

#endif
