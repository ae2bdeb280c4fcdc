/* model_name.c - what the user's name of a model stands for */
#include "cli/model_name.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/settings.h"
#include "conf/member.h"
#include "conf/trusted.h"

#include <stdio.h>
#include <string.h>

enum { DEEPEST = 8 }; /* aliases of aliases */

bool model_name_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *again = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    return !pattern[strspn(pattern, "*")];
}

void model_name_release(struct model_name *m)
{
    allm_json_free(m->options);
    m->options = NULL;
}

/* ------------------------------------------------------------ aliases --- */

/* An outer alias overrides the one that it refers to.  projects is what the
 * project's file has of it, or NULL. */
static void add_alias(struct model_name *m, const allm_json *alias,
                      const allm_json *projects)
{
    const allm_json *options = allm_json_get(alias, "options");
    m->foreign |= trusted_sets_address(allm_json_get(projects, "options"));
    if (!m->system)
        m->system = member_read(alias, "system");
    if (!options)
        return;
    allm_json *all = m->options ? allm_json_merge(options, m->options)
                                : allm_json_copy(options);
    allm_json_free(m->options);
    m->options = all;
}

/* Follow the aliases; NULL: they lead to themselves. */
static const char *follow_aliases(struct model_name *m, const char *text)
{
    const allm_json *aliases = settings_value("aliases");
    const allm_json *projects = config_of_project(settings_config(), "aliases");
    for (int depth = 0; depth <= DEEPEST; depth++) {
        const allm_json *alias = allm_json_get(aliases, text);
        const char *next = allm_json_text(alias, NULL);
        if (!alias)
            return text;
        if (!next) {
            add_alias(m, alias, allm_json_get(projects, text));
            next = member_read(alias, "model");
        }
        text = next;
    }
    return NULL;
}

bool model_name_loops(const char *name, const char *model)
{
    const allm_json *aliases = settings_value("aliases");
    for (int depth = 1; depth <= DEEPEST && strcmp(model, name) != 0; depth++) {
        const allm_json *alias = allm_json_get(aliases, model);
        if (!alias)
            return false;
        const char *next = allm_json_text(alias, NULL);
        model = next ? next : member_read(alias, "model");
    }
    return true;
}

static int report_loop(const char *text)
{
    size_t line;
    char path[300];
    snprintf(path, sizeof path, "aliases.%.250s", text);
    const struct config_layer *l = config_origin(settings_config(), path,
                                                 &line);
    return print_misuse(
        "%.500s:%zu: the alias \"%.100s\" leads to itself, or through more "
        "than %d aliases; change one of them with allm aliases set",
        l ? l->name : "", line, text, DEEPEST);
}

/* ---------------------------------------------------------- providers --- */

static bool put_name(struct model_name *m, const char *provider, size_t len,
                     const char *id)
{
    int n = snprintf(m->name, sizeof m->name, "%.*s:%s", (int)len, provider,
                     id);
    if (n < 0 || (size_t)n >= sizeof m->name || len >= sizeof m->provider)
        return print_fault("the name of the model is too long");
    snprintf(m->provider, sizeof m->provider, "%.*s", (int)len, provider);
    m->id = m->name + len + 1;
    return true;
}

/* The settings of one of the user's providers; NULL: none. */
static const allm_json *own_provider(const char *name, size_t len)
{
    char key[64];
    if (len >= sizeof key)
        return NULL;
    snprintf(key, sizeof key, "%.*s", (int)len, name);
    return allm_json_get(settings_value("providers"), key);
}

/* Find the known provider behind a provider.  END_REQUEST: there is none. */
static int find_like(struct model_name *m)
{
    size_t len = strlen(m->provider);
    const allm_json *own = own_provider(m->provider, len);
    const char *like = member_read(own, "like");
    const allm_json *row = like ? registry_row(like, strlen(like))
                                : registry_row(m->provider, len);
    if (!row && own && !like)
        row = registry_row("openai_chat", 11);
    if (row)
        snprintf(m->like, sizeof m->like, "%s", member_read(row, "name"));
    else
        print_fault("providers.%s.like is \"%.100s\", which is no known "
                    "provider (allm models --providers lists them)",
                    m->provider, like ? like : "");
    m->keyless = row && registry_is_keyless(row);
    return row ? END_DONE : END_USAGE;
}

/* Split at this separator, if a known provider is before it.  END_MISS: not. */
static int split_name(struct model_name *m, const char *text, char separator)
{
    const char *at = strchr(text, separator);
    size_t len = at ? (size_t)(at - text) : 0;
    if (!at || !len || !at[1] ||
        (!own_provider(text, len) && !registry_row(text, len)))
        return END_MISS;
    return put_name(m, text, len, at + 1) ? find_like(m) : END_USAGE;
}

/* --------------------------------------------------------- bare names --- */

struct candidates {
    char names[500]; /* for the message */
    char provider[64];
    size_t count;
};

static void add_candidate(struct candidates *c, const char *provider,
                          const char *id)
{
    size_t len = strlen(c->names);
    if (c->count && !strcmp(c->provider, provider))
        return;
    snprintf(c->names + len, sizeof c->names - len, "%s%s:%s", len ? ", " : "",
             provider, id);
    snprintf(c->provider, sizeof c->provider, "%s", provider);
    c->count++;
}

/* The user's own providers that list the model, else those of the catalog. */
static void find_candidates(struct candidates *c, const char *id,
                            const allm_catalog *catalog)
{
    const allm_json *own = settings_value("providers");
    const allm_model_ref *m;
    for (const allm_json *k = NULL; (k = allm_json_next(own, k));) {
        const allm_json *list = allm_json_get(allm_json_value(k), "models");
        for (const allm_json *v = NULL; (v = allm_json_next(list, v));)
            if (!strcmp(allm_json_text(v, NULL), id))
                add_candidate(c, allm_json_text(k, NULL), id);
    }
    for (size_t i = 0; !c->count && (m = allm_catalog_at(catalog, i)); i++)
        if (m->provider && m->id && !strcmp(m->id, id))
            for (; m; m = allm_catalog_at(catalog, ++i))
                if (m->provider && m->id && !strcmp(m->id, id))
                    add_candidate(c, m->provider, id);
}

static int reject_name(const char *text)
{
    const char *colon = strchr(text, ':');
    bool provider = registry_row(text, strcspn(text, ":"));
    if (provider)
        print_fault("\"%.200s\" names a provider, but no model; use -m "
                    "PROVIDER:MODEL (allm models -m %.*s: lists them)",
                    text, (int)strcspn(text, ":"), text);
    else if (colon)
        print_fault("there is no provider \"%.*s\"%s (allm models --providers "
                    "lists them); for an OpenAI-compatible server, set "
                    "OPENAI_CHAT_BASE_URL and use -m openai_chat:MODEL",
                    (int)(colon - text < 200 ? colon - text : 200), text,
                    registry_hint(text, (size_t)(colon - text)));
    else
        print_fault("unknown model \"%.200s\"; name its provider, too: -m "
                    "PROVIDER:MODEL (to search: allm models %.200s)",
                    text, text);
    return END_REQUEST;
}

static int resolve_bare(struct model_name *m, const char *text,
                        const allm_catalog *catalog)
{
    struct candidates c = { .count = 0 };
    find_candidates(&c, text, catalog);
    if (c.count > 1) {
        print_fault("several providers have a model \"%.200s\": %s; use one "
                    "of these names",
                    text, c.names);
        return END_REQUEST;
    }
    const allm_model_ref *ref = c.count ? NULL
                                        : allm_catalog_find(catalog, text);
    if (!c.count && (!ref || !ref->provider))
        return reject_name(text);
    const char *provider = c.count ? c.provider : ref->provider;
    return put_name(m, provider, strlen(provider), c.count ? text : ref->id)
               ? find_like(m)
               : END_USAGE;
}

int model_name_resolve(struct model_name *m, const char *text,
                       const allm_catalog *catalog)
{
    *m = (struct model_name){ .options = NULL };
    const char *real = follow_aliases(m, text);
    if (!real)
        return report_loop(text);
    int code = split_name(m, real, ':');
    if (code == END_MISS)
        code = split_name(m, real, '/');
    if (code == END_MISS)
        code = resolve_bare(m, real, catalog);
    return code;
}
