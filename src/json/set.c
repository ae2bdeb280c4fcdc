/* set.c - the public allm_json_set: set, replace or remove a member */
#include "json/over.h"

#include "base/utf8.h"

const allm_json *json_set(struct arena *a, const allm_json *object,
                          struct slice key, const allm_json *value)
{
    const yyjson_val *under = over_object(object);
    const yyjson_val *end = val_after(under);
    bool placed = !value;
    if (!utf8_valid(key, NULL)) {
        key = utf8_repair(a, key);
        if (!key.ptr)
            return NULL;
    }
    struct build b = build_object_in(a);
    for (const yyjson_val *k = under + 1; k < end; k = val_after(k + 1)) {
        if (!slice_eq(val_slice(k), key)) {
            over_add(&b, val_slice(k), val_json(k + 1));
        } else if (!placed) {
            over_add(&b, key, value);
            placed = true;
        }
    }
    if (!placed)
        over_add(&b, key, value);
    return build_finish(&b);
}

allm_json *allm_json_set(const allm_json *object, const char *key,
                         const allm_json *value)
{
    struct allm_home *h = object ? home_new(mem_default(), 1024) : NULL;
    if (!h)
        return NULL;
    if (!over_is_object(object) || !key || over_is_none(value))
        return over_misused(
            h, "allm_json_set() needs an object, a key, and a value "
               "that is well (NULL removes the member)");
    return over_done(h, json_set(home_arena(h), object, slice_of(key), value));
}
