/* registry.h - the table of providers, one row each */
#pragma once

#include "allm.h"
#include "base/slice.h"

/* The settings of a provider.  For a member that is NULL, the value of the
 * adapter is used. */
struct registry_row {
    const char *name;
    const char *module;         /* its name in the Elixir library; or NULL */
    const allm_adapter *adapter;
    const char *base_url;       /* without a slash at its end */
    const char *base_url_env;   /* environment variable that overrides it */
    const char *key_env;        /* NULL: NAME_API_KEY */
    const char *auth_header, *auth_prefix;
    uint64_t quirks;            /* bits of the dialect */
    uint64_t responses_quirks;  /* instead of quirks, with /responses */
    size_t body_limit;          /* bytes of a response; 0: the default */
    uint32_t first_ms;          /* timeout of the first content; 0: default */
    const char *schema_provider;    /* the server ignores response_format here;
                                       the row of the same server that supports
                                       it.  NULL: it is supported here */
    bool by_model;              /* /responses for models that need it */
    bool keyless;               /* works without a key */
};

/* The row for a name: a provider, a dialect ("openai_chat"), or a module name
 * of the Elixir library.  NULL: unknown. */
const struct registry_row *registry_find(struct slice name);

/*
 * The row as a call uses it.  A server of /chat/completions may be called with
 * /responses, and vice versa: `api` is "chat", "responses" or NULL, in which
 * case the row and the model's name decide.  Other dialects have no choice.
 * False: `api` has another value.
 */
bool registry_for(const struct registry_row *row, const char *model,
                  const char *api, struct registry_row *out);

/* The row with this index, for lists; NULL: there are no more. */
const struct registry_row *registry_at(size_t index);
