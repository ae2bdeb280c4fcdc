/* field.c - find members of Gemini's objects, in both spellings */
#include "provider/gemini/field.h"

/* Is the key "finish_reason", if the name is "finishReason"? */
static bool is_snake_case(struct slice key, const char *name)
{
    size_t n = 0;
    for (; *name; name++) {
        bool upper = *name >= 'A' && *name <= 'Z';
        if (upper && (n == key.len || key.ptr[n++] != '_'))
            return false;
        if (n == key.len ||
            key.ptr[n++] != (upper ? (char)(*name - 'A' + 'a') : *name))
            return false;
    }
    return n == key.len;
}

/* A single pass, because most members that we look for are missing.  The first
 * spelling wins. */
const allm_json *gemini_field(const allm_json *object, const char *name)
{
    const allm_json *found = NULL;
    if (allm_json_type_of(object) != ALLM_JSON_OBJECT)
        return NULL;
    for (const allm_json *k = NULL; (k = allm_json_next(object, k));) {
        struct slice key = json_slice(k);
        if (!key.len || *key.ptr != *name)
            continue;
        if (slice_is(key, name))
            return allm_json_value(k);
        if (!found && is_snake_case(key, name))
            found = allm_json_value(k);
    }
    return found;
}

struct slice gemini_field_text(const allm_json *object, const char *name)
{
    return json_slice(gemini_field(object, name));
}

bool gemini_field_true(const allm_json *object, const char *name)
{
    return allm_json_true(gemini_field(object, name));
}
