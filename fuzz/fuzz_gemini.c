/* fuzz_gemini.c - any bytes as a response of
 * streamGenerateContent: see dialect.h */
#include "dialect.h"
#include "provider/gemini/adapter.h"

FUZZ_DIALECT(gemini_adapter, "gemini", 0)
