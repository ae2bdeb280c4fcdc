/* messages.h - a conversation as /api/chat wants it */
#ifndef PROVIDER_OLLAMA_MESSAGES_H
#define PROVIDER_OLLAMA_MESSAGES_H

#include "allm.h"
#include "json/emit.h"

/* Write the list of messages; false: no memory. */
bool ollama_messages_write(const allm_call *call, struct emit *e,
                           struct arena *a);

#endif
