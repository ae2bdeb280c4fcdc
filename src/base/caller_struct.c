/* caller_struct.c - structs filled in by a caller with another header
 * version */
#include "base/caller_struct.h"

#include <string.h>

static bool known(const char *given, size_t have, size_t ours)
{
    if (have < sizeof have)
        return false;
    for (size_t i = ours; i < have; i++)
        if (given[i])
            return false;
    return true;
}

bool caller_struct_take(void *ours, size_t size, const void *given)
{
    size_t have = size;
    bool taken = true;
    memset(ours, 0, size);
    if (given) {
        memcpy(&have, given, sizeof have);
        taken = known(given, have, size);
        if (taken)
            memcpy(ours, given, have < size ? have : size);
    }
    memcpy(ours, &size, sizeof size);   /* it begins with its size */
    return taken;
}
