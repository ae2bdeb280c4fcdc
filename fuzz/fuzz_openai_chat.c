/* fuzz_openai_chat.c - any bytes as a response of
 * /chat/completions: see dialect.h */
#include "dialect.h"
#include "provider/dialects.h"

FUZZ_DIALECT(openai_chat_adapter, "p", 4)
