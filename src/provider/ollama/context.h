/*
 * context.h - how much room a request needs in the server's memory
 *
 * A server gives a model a context of a few thousand tokens and silently cuts
 * off what does not fit: so a request that is larger must say so.
 */
#ifndef PROVIDER_OLLAMA_CONTEXT_H
#define PROVIDER_OLLAMA_CONTEXT_H

#include "allm.h"

/*
 * The "num_ctx" to ask for: a power of two, since another number than before
 * makes the server load the model again; 0: what every server gives will do.
 * `bytes` are those of messages and tools as they are sent, images included;
 * `answer`: tokens that may come, 0: unknown.
 */
int64_t ollama_context(const allm_request *r, size_t bytes, int64_t answer);

#endif
