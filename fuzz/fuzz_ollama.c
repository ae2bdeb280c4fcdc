/* fuzz_ollama.c - any bytes as an answer of /api/chat: see dialect.h */
#include "dialect.h"
#include "provider/dialects.h"

FUZZ_DIALECT(ollama_adapter, "ollama", 0)
