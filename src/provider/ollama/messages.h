/* messages.h - encode the conversation for /api/chat */
#ifndef PROVIDER_OLLAMA_MESSAGES_H
#define PROVIDER_OLLAMA_MESSAGES_H

#include "allm.h"
#include "json/emit.h"

/* Write the list of messages.  False: out of memory. */
bool ollama_messages_write(const allm_call *call, struct emit *e,
                           struct arena *a);

#endif
