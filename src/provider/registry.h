/* registry.h - providers by name: facts, one row each */
#ifndef PROVIDER_REGISTRY_H
#define PROVIDER_REGISTRY_H

#include "allm.h"
#include "base/slice.h"

/* What is known of a provider.  Where a row says NULL, the adapter's own value
 * counts. */
struct registry_row {
    const char *name;
    const char *module;         /* in documents of the Elixir library; or NULL */
    const allm_adapter *adapter;
    const char *base_url;       /* without a slash at its end */
    const char *base_url_env;   /* a variable that overrides it */
    const char *key_env;        /* NULL: NAME_API_KEY */
    const char *auth_header, *auth_prefix;
    uint64_t quirks;            /* bits of the dialect */
    uint64_t responses_quirks;  /* instead, where it is asked by /responses */
    size_t body_limit;          /* bytes of an answer; 0: as usual */
    uint32_t first_ms;          /* to wait for the first content; 0: as usual */
    const char *schema_provider;    /* it ignores response_format here; the
                                       name of the row for the same server that
                                       does not.  NULL: it is heeded */
    bool by_model;              /* /responses for models that want it */
    bool keyless;               /* works without a key */
};

/* The row of a name: a provider, a dialect ("openai_chat"), or the model
 * library's module name.  NULL: unknown. */
const struct registry_row *registry_find(struct slice name);

/*
 * The row as a call uses it.  Servers of /chat/completions may be asked by
 * /responses, and the other way round: `api` is "chat", "responses" or NULL,
 * which leaves it to the row and the model's name.  Other dialects have no
 * choice.  False: `api` is another word.
 */
bool registry_for(const struct registry_row *row, const char *model,
                  const char *api, struct registry_row *out);

/* All rows, for lists; NULL: there is no such number. */
const struct registry_row *registry_at(size_t index);

#endif
