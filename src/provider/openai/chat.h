/* chat.h - the dialect of /chat/completions, which most servers support */
#ifndef PROVIDER_OPENAI_CHAT_H
#define PROVIDER_OPENAI_CHAT_H

#include "allm.h"

extern const allm_adapter openai_chat_adapter;

#endif
