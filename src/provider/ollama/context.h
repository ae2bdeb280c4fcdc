/*
 * context.h - estimate the context size that a request needs
 *
 * By default, a server gives a model a context of a few thousand tokens and
 * silently truncates longer prompts.  So a larger request must say so.
 */
#pragma once

#include "allm.h"

/*
 * The "num_ctx" to request.  It is a power of two, because the server reloads
 * the model whenever the number changes. 0: the default is enough. `bytes` is
 * the size of the messages and tools as sent, including images; `response` is
 * the maximum number of tokens in the response, or 0 if unknown.
 */
int64_t ollama_context(const allm_request *r, size_t bytes, int64_t response);
