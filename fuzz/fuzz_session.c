/*
 * fuzz_session.c - any answers of a server: through tools to a session that
 * is saved, loaded and asks the same (reload.h)
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
