/*
 * fuzz_recording.c - any bytes as a recording: rejected, or played to its end
 *
 * An accepted recording keeps the promises of net/recording.h: every exchange
 * is refused or has steps, of which only the last ends it.
 */
#include "net/recording.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check(const struct recorded *x)
{
    demand(x->request != NULL);
    demand((x->refused != NULL) == (x->count == 0));
    for (size_t i = 0; i < x->count; i++) {
        const struct recording_step *step = &x->steps[i];
        demand((step->kind == RECORDING_CHUNK) == (i + 1 < x->count));
        demand(step->kind != RECORDING_CHUNK || x->answered);
        demand((step->kind == RECORDING_ERROR) == (step->error != NULL));
        demand(step->at_ms >= (i ? step[-1].at_ms : 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct recorded *first;
    arena_init(&a, mem_default());
    const allm_error *error = recording_read(
        &a, (struct slice){ (const char *)data, size }, "fuzz", &first);
    demand(!error || (error->message && *error->message));
    for (const struct recorded *x = error ? NULL : first; x; x = x->next)
        check(x);
    arena_release(&a);
    return 0;
}
