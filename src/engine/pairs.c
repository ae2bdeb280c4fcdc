/* pairs.c - options as an object, or as [[key, value], ...] */
#include "engine/pairs.h"

#include "json/build.h"
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
        if (allm_json_count(p) != 2 || allm_json_type_of(key) != ALLM_JSON_TEXT)
            return NULL;
        if (!json_get(object, json_slice(key)))
            object = json_set(a, object, json_slice(key), allm_json_at(p, 1));
    }
    return object;
}

const allm_json *pairs_list(struct arena *a, const allm_json *v)
{
    struct build b;
    if (!v || allm_json_type_of(v) != ALLM_JSON_OBJECT)
        return v;
    build_init(&b, a);
    build_array(&b);
    for (const allm_json *k = NULL; (k = allm_json_next(v, k));) {
        build_array(&b);
        build_text(&b, json_slice(k));
        build_value(&b, allm_json_value(k));
        build_end(&b);
    }
    build_end(&b);
    return build_done(&b);
}
