/* batch_openai.h - the body of a line of an OpenAI batch */
#pragma once

#include "allm.h"

/* The body in our plain form; NULL: it is not an object. */
allm_json *batch_openai_plain(const allm_json *body);
/* Does batch_openai_plain() give this member another place or form? */
bool batch_openai_handles(const char *key);
