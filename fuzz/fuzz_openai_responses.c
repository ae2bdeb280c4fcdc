/* fuzz_openai_responses.c - any bytes as a response of
 * /responses: see dialect.h */
#include "dialect.h"
#include "provider/dialects.h"

FUZZ_DIALECT(openai_responses_adapter, "openai", 0)
