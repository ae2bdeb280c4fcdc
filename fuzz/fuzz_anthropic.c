/* fuzz_anthropic.c - any bytes as an answer of /v1/messages: see dialect.h */
#include "dialect.h"
#include "provider/dialects.h"

FUZZ_DIALECT(anthropic_adapter, "anthropic", 0)
