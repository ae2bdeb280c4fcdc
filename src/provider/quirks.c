/* quirks.c - differences between servers of the same dialect */
#include "provider/quirks.h"

#include "base/status.h"
#include "json/json.h"

static uint64_t find_quirk(const struct quirks_name *n, const allm_json *name)
{
    while (n->name && !json_is(name, n->name))
        n++;
    return n->quirk;
}

bool quirks_read(const struct quirks_name *names, const allm_call *call,
                 uint64_t *out, const char **unknown)
{
    const allm_json *list = allm_json_get(call->adapter_opts, "quirks");
    *out = call->quirks;
    *unknown = NULL;
    if (!list)
        return true;
    if (allm_json_type_of(list) != ALLM_JSON_ARRAY) {
        *unknown = "(not a list)";
        return false;
    }
    for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
        uint64_t quirk = find_quirk(names, v);
        const char *text = allm_json_text(v, NULL);
        if (!quirk)
            *unknown = text ? text : "(not a string)";
        *out |= quirk;
    }
    return !*unknown;
}

const allm_error *quirks_refuse(struct arena *a, const char *unknown,
                                const char *known)
{
    return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                        "quirks: \"%s\" is unknown; quirks must be a "
                        "list of names such as \"%s\"",
                        unknown, known);
}
