/* usage.h - read the token counts of OpenAI and of compatible servers */
#pragma once

#include "provider/answer.h"

/* Read a "usage" object, in any of its forms.  Members without a field in
 * allm_usage go to `extra`, in the arena.  False: it has no counts. */
bool openai_usage_read(const allm_json *usage, struct arena *a,
                       allm_usage *out);

/* Read it and update the usage of a response. */
bool openai_usage_take(struct answer *a, const allm_json *usage);
