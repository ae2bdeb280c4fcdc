/* quirks.c - how servers of /v1/messages differ */
#include "provider/anthropic/quirks.h"

#include "provider/quirks.h"

static const struct quirks_name names[] = {
    { "unsigned_thoughts", ANTHROPIC_UNSIGNED_THOUGHTS },
    { NULL, 0 },
};

bool anthropic_quirks(const allm_call *call, uint64_t *out,
                      const char **unknown)
{
    return quirks_read(names, call, out, unknown);
}
