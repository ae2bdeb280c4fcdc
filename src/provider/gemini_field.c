/* gemini_field.c - members of Gemini's objects, in both of their spellings */
#include "provider/gemini_field.h"

#include "json/json.h"

enum { NAME_LIMIT = 64 };

/* "finishReason" as "finish_reason"; false: it is the same. */
static bool spell(const char *name, char out[NAME_LIMIT])
{
    size_t n = 0;
    bool differs = false;
    for (; *name && n < NAME_LIMIT - 2; name++) {
        bool upper = *name >= 'A' && *name <= 'Z';
        if (upper)
            out[n++] = '_';
        out[n++] = upper ? (char)(*name - 'A' + 'a') : *name;
        differs = differs || upper;
    }
    out[n] = '\0';
    return differs;
}

const allm_json *gemini_field(const allm_json *object, const char *name)
{
    char other[NAME_LIMIT];
    const allm_json *v = allm_json_get(object, name);
    if (v || !object || !spell(name, other))
        return v;
    return allm_json_get(object, other);
}

struct slice gemini_field_text(const allm_json *object, const char *name)
{
    return json_slice(gemini_field(object, name));
}

bool gemini_field_true(const allm_json *object, const char *name)
{
    return allm_json_true(gemini_field(object, name));
}

allm_int gemini_field_count(const allm_json *object, const char *name)
{
    int64_t n;
    if (allm_json_int64(gemini_field(object, name), &n) && n >= 0)
        return (allm_int){ n, true };
    return (allm_int){ 0, false };
}
