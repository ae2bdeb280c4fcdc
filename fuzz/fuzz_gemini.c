/* fuzz_gemini.c - any bytes as a response of
 * streamGenerateContent: see dialect.h */
#include "dialect.h"
#include "provider/dialects.h"

FUZZ_DIALECT(gemini_adapter, "gemini", 0)
