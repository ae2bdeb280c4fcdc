/* openai_responses_quirks.c - how servers of /responses differ */
#include "provider/openai_responses_quirks.h"

#include "json/json.h"

static const struct {
    const char *name;
    uint64_t quirk;
} names[] = {
    { "azure_paths", RESPONSES_AZURE_PATHS },
    { "no_include", RESPONSES_NO_INCLUDE },
    { "no_store", RESPONSES_NO_STORE },
};

static uint64_t quirk_named(const allm_json *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_is(name, names[i].name))
            return names[i].quirk;
    return 0;
}

bool openai_responses_quirks(const allm_call *call, uint64_t *out,
                             const char **unknown)
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
