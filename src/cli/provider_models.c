/* provider_models.c - list the models that a provider or a server offers */
#include "cli/provider_models.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/reword.h"
#include "cli/target.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

struct offer {
    const char *provider;
    const allm_json *list;
    const allm_catalog *catalog;
    const struct model_filter *filter;
};

/* A model of the server, with the capabilities and prices of the catalog, if it
 * has them. */
static allm_model_ref describe_model(const allm_catalog *catalog,
                                     const char *provider,
                                     const allm_json *model)
{
    char name[512];
    const char *id = member_read(model, "id");
    snprintf(name, sizeof name, "%s:%s", provider, id);
    const allm_model_ref *known = allm_catalog_find(catalog, name);
    allm_model_ref m = { .size = sizeof m };
    if (known)
        m = *known;
    m.provider = provider;
    m.id = id;
    return m;
}

/* The next model that matches the filter, as *m; NULL: no more. */
static const allm_json *next_matching_model(const struct offer *o,
                                            const allm_json *at,
                                            allm_model_ref *m)
{
    while ((at = allm_json_next(o->list, at))) {
        *m = describe_model(o->catalog, o->provider, at);
        if (model_filter_fits(o->filter, m))
            return at;
    }
    return NULL;
}

static size_t print_list(const struct offer *o)
{
    size_t count = 0;
    allm_model_ref m;
    struct model_table table = { 0 };
    for (const allm_json *v = NULL; (v = next_matching_model(o, v, &m));
         count++)
        model_table_measure(&table, &m);
    if (count)
        model_table_begin(&table);
    for (const allm_json *v = NULL; (v = next_matching_model(o, v, &m));)
        model_table_print(&table, &m);
    return count;
}

static size_t print_list_json(const struct offer *o)
{
    size_t count = 0;
    allm_model_ref m;
    allm_json_build *b = member_new_array();
    for (const allm_json *v = NULL; (v = next_matching_model(o, v, &m));
         count++)
        allm_json_build_value(b, v);
    allm_json *fits = member_done(b);
    print_json(fits, ALLM_JSON_PRETTY);
    allm_json_free(fits);
    return count;
}

static void print_offer(const struct offer *o, bool json)
{
    size_t fit = json ? print_list_json(o) : print_list(o);
    size_t all = allm_json_count(o->list);
    if (!all)
        print_note("%s offers no models", o->provider);
    else if (!fit)
        print_note("none of the %zu models of %s matches%s", all, o->provider,
                   o->filter->can ? "; --can needs the data of the catalog, "
                                    "which may not have these models"
                                  : "");
}

static int fetch_models(const char *provider, const allm_catalog *catalog,
                        const struct model_filter *filter, bool json)
{
    allm_keys *keys = target_keys();
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .adapter = provider, .keys = keys));
    allm_stream *stream = allm_models(engine, NULL);
    allm_stream_wait(stream);
    const allm_error *error = allm_stream_error(stream);
    struct offer offer = { provider, allm_stream_models(stream), catalog,
                           filter };
    int code = exit_of_error(error);
    if (error)
        reword_print(error);
    else
        print_offer(&offer, json);
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_keys_free(keys);
    return code;
}

int provider_models_list(const char *provider, const allm_catalog *catalog,
                         const struct model_filter *filter, bool json)
{
    char name[64];
    size_t len = strcspn(provider, ":");
    const allm_json *row = registry_row(provider, len);
    if (!row || !registry_is_http(row) || len >= sizeof name)
        return registry_reject_provider(provider, len);
    snprintf(name, sizeof name, "%.*s", (int)len, provider);
    return fetch_models(name, catalog, filter, json);
}
