/* ollama_quirks.c - how models of /api/chat differ */
#include "provider/ollama_quirks.h"

#include "json/json.h"

static const struct {
    const char *name;
    uint64_t quirk;
} names[] = {
    { "think_tags", OLLAMA_THINK_TAGS },
    { "think_inside", OLLAMA_THINK_TAGS | OLLAMA_THINK_INSIDE },
};

static uint64_t quirk_named(const allm_json *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is(name, names[i].name))
            return names[i].quirk;
    return 0;
}

bool ollama_quirks(const allm_call *call, uint64_t *out, const char **unknown)
{
    const allm_json *list = allm_json_get(call->adapter_opts, "quirks");
    *out = call->quirks;
    *unknown = NULL;
    if (!list)
        return true;
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY) {
        *unknown = "(no list)";
        return false;
    }
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        uint64_t quirk = quirk_named(v);
        const char *text = allm_json_text(v, NULL);
        if (!quirk)
            *unknown = text ? text : "(no text)";
        *out |= quirk;
    }
    return !*unknown;
}
