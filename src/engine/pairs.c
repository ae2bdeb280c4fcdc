/* pairs.c - options as an object, or as [[key, value], ...] */
#include "engine/pairs.h"

#include "json/json.h"

const allm_json *pairs_object(struct arena *a, const allm_json *v)
{
    if (allm_json_type_of(v) == ALLM_JSON_OBJECT)
        return v;
    if (allm_json_type_of(v) != ALLM_JSON_ARRAY)
        return NULL;
    const allm_json *object = json_empty_object();
    for (const allm_json *p = NULL; object && (p = allm_json_next(v, p));) {
        const allm_json *key = allm_json_at(p, 0);
        if (allm_json_type_of(p) != ALLM_JSON_ARRAY ||
            allm_json_count(p) != 2 || allm_json_type_of(key) != ALLM_JSON_TEXT)
            return NULL;
        if (!json_get(object, json_slice(key)))
            object = json_set(a, object, json_slice(key), allm_json_at(p, 1));
    }
    return object;
}
