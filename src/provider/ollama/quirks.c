/* quirks.c - how models of /api/chat differ */
#include "provider/ollama/quirks.h"

#include "provider/quirks.h"

static const struct quirks_name names[] = {
    { "think_tags", OLLAMA_THINK_TAGS },
    { "think_inside", OLLAMA_THINK_TAGS | OLLAMA_THINK_INSIDE },
    { NULL, 0 },
};

bool ollama_quirks(const allm_call *call, uint64_t *out, const char **unknown)
{
    return quirks_read(names, call, out, unknown);
}
