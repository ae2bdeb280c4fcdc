/* fuzz_openai_chat.c - any bytes as an answer of /chat/completions: see dialect.h */
#include "dialect.h"
#include "provider/openai/chat.h"

FUZZ_DIALECT(openai_chat_adapter, "p", 4)
