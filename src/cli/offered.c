/* offered.c - what a provider or a server says that it offers */
#include "cli/offered.h"

#include "cli/catalog.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/target.h"

#include <stdio.h>
#include <string.h>

/* A model of the server; what it can do and costs is known by the catalog, or
 * by nobody. */
static allm_model_ref describe(const allm_catalog *catalog,
                               const char *provider, const allm_json *model)
{
    char name[512];
    const char *id = allm_json_text(allm_json_get(model, "id"), NULL);
    snprintf(name, sizeof name, "%s:%s", provider, id);
    const allm_model_ref *known = allm_catalog_find(catalog, name);
    allm_model_ref m = { .size = sizeof m };
    if (known)
        m = *known;
    m.provider = provider;
    m.id = id;
    return m;
}

static void print_list(const allm_json *list, const char *provider,
                       const struct model_filter *filter)
{
    struct model_table table = { 0 };
    allm_catalog *catalog = catalog_open();
    for (int print = 0; print < 2; print++) {
        for (const allm_json *v = NULL; (v = allm_json_next(list, v));) {
            allm_model_ref m = describe(catalog, provider, v);
            if (!model_filter_fits(filter, &m))
                continue;
            if (print)
                model_table_print(&table, &m);
            else
                model_table_measure(&table, &m);
        }
        if (!print)
            model_table_begin(&table);
    }
    allm_catalog_free(catalog);
}

static int ask(const char *provider, const struct model_filter *filter,
               bool json)
{
    allm_keys *keys = target_keys();
    allm_engine *engine =
        allm_engine_new(ALLM(engine_opts, .adapter = provider, .keys = keys));
    allm_stream *stream = allm_models(engine, NULL);
    allm_stream_wait(stream);
    const allm_error *error = allm_stream_error(stream);
    const allm_json *list = allm_stream_models(stream);
    int code = exit_of_error(error);
    if (error)
        print_fault("%s", error->message);
    else if (json)
        print_json(list, ALLM_JSON_PRETTY);
    else
        print_list(list, provider, filter);
    if (!error && !allm_json_count(list))
        print_note("%s offers no models", provider);
    allm_stream_free(stream);
    allm_engine_free(engine);
    allm_keys_free(keys);
    return code;
}

int offered_list(const char *provider, const struct model_filter *filter,
                 bool json)
{
    char name[64];
    size_t len = strcspn(provider, ":");
    allm_json *list = allm_registry_list();
    const allm_json *row = registry_row(list, provider, len);
    bool known = row && registry_is_http(row) && len < sizeof name;
    if (!known) {
        int code = registry_refuse_provider(list, provider, len);
        allm_json_free(list);
        return code;
    }
    allm_json_free(list);
    snprintf(name, sizeof name, "%.*s", (int)len, provider);
    return ask(name, filter, json);
}
