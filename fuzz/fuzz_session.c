/*
 * fuzz_session.c - any answers of a server: after tools, the saved and loaded
 * session sends the same request (reload.h)
 */
#define DEMAND(truth) demand(truth)

#include <stdbool.h>
#include <stdlib.h>

static void demand(bool truth)
{
    if (!truth)
        abort();
}

#include "reload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reload_check(data, size);
    return 0;
}
