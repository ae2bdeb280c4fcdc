/* messages.h - encode the conversation for /api/chat */
#pragma once

#include "allm.h"
#include "json/emit.h"

/* Write the list of messages.  False: out of memory. */
bool ollama_messages_write(const allm_call *call, struct emit *e,
                           struct arena *a);
