/* counts.c - token counts that may be unknown */
#include "provider/counts.h"

#include "json/json.h"

allm_int counts_at(const allm_json *object, const char *name)
{
    int64_t n;
    if (allm_json_int64(json_at(object, name), &n) && n >= 0)
        return (allm_int){ n, true };
    return (allm_int){ 0, false };
}

allm_int counts_add(allm_int x, allm_int y)
{
    if (!x.set || !y.set)
        return x.set ? x : y;
    if (x.value > INT64_MAX - y.value)
        return (allm_int){ INT64_MAX, true };
    return (allm_int){ x.value + y.value, true };
}
