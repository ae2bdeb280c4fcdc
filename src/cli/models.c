/* models.c - allm models: list the models of the catalog, or the providers */
#include "cli/catalog.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/provider_models.h"
#include "cli/registry.h"
#include "cli/suggest.h"
#include "cli/target.h"

#include "allm.h"
#include "conf/member.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CAPABILITIES                                                           \
    "tools, vision, reasoning, json_native, pdf, audio, web_search, caching"
#define PURPOSES "chat, embedding, image, moderation"

static struct settings {
    bool json, providers;
    const char *provider, *can, *model;
} settings;

static const struct flag flags[] = {
    { 0, "--provider", FLAG_TEXT, offsetof(struct settings, provider), "NAME",
      "only models of this provider", FILL_PROVIDER },
    { 0, "--can", FLAG_TEXT, offsetof(struct settings, can), "LIST",
      "only models that can do this: tools,vision,...", FILL_WORDS,
      "tools|vision|reasoning|json_native|pdf|audio|web_search|caching|chat|"
      "embedding|image|moderation" },
    { 'm', "--model", FLAG_TEXT, offsetof(struct settings, model), "PROVIDER:",
      "list what this provider or server offers", FILL_MODEL },
    { 0, "--providers", FLAG_SWITCH, offsetof(struct settings, providers), NULL,
      "list the providers and their addresses instead" },
    { 0, "--json", FLAG_SWITCH, offsetof(struct settings, json), NULL,
      "print a JSON list" },
    { .name = NULL },
};

static void put_model(allm_json_build *b, const allm_model_ref *m)
{
    allm_json *value = member_parse(allm_model_ref_json(m, ALLM_FORM_PLAIN));
    allm_json_build_value(b, value);
    allm_json_free(value);
}

/* The next model to list; NULL: no more.  A model that is hidden by another one
 * with the same name is skipped. */
static const allm_model_ref *next_listed_model(
    const allm_catalog *catalog, const struct model_filter *filter,
    size_t *index)
{
    const allm_model_ref *m;
    while ((m = allm_catalog_at(catalog, (*index)++))) {
        char name[512];
        snprintf(name, sizeof name, "%s:%s", m->provider, m->id);
        if (model_filter_fits(filter, m) &&
            (!m->provider || allm_catalog_find(catalog, name) == m))
            return m;
    }
    return NULL;
}

static void print_models_json(const allm_catalog *catalog,
                              const struct model_filter *filter)
{
    const allm_model_ref *m;
    allm_json_build *b = member_new_array();
    for (size_t i = 0; (m = next_listed_model(catalog, filter, &i));)
        put_model(b, m);
    allm_json *list = member_done(b);
    print_json(list, ALLM_JSON_PRETTY);
    allm_json_free(list);
}

static void print_models(const allm_catalog *catalog,
                         const struct model_filter *filter)
{
    char day[11];
    size_t count = 0;
    const allm_model_ref *m;
    struct model_table table = { 0 };
    for (size_t i = 0; (m = next_listed_model(catalog, filter, &i)); count++)
        model_table_measure(&table, m);
    if (!count) {
        print_note("the catalog has no such model; models that it does not "
                   "list work, too: allm -m PROVIDER:MODEL ...; allm models "
                   "-m PROVIDER: lists the models that a provider offers");
        return;
    }
    model_table_begin(&table);
    for (size_t i = 0; (m = next_listed_model(catalog, filter, &i));)
        model_table_print(&table, m);
    catalog_age(catalog, day);
    print_note(
        "%zu models, as of %s: context in tokens, US dollars per million "
        "tokens in/out, capabilities.  To narrow the list: --provider "
        "NAME, --can tools,vision, WORDS.  Models that are not listed "
        "work, too",
        count, *day ? day : "an unknown date");
}

static int show_models(const allm_catalog *catalog,
                       const struct model_filter *filter)
{
    if (settings.json)
        print_models_json(catalog, filter);
    else
        print_models(catalog, filter);
    return END_DONE;
}

/* Reject a filter that no model can match: it is probably a typo. */
static int check_filter(const allm_catalog *catalog,
                        const struct model_filter *filter)
{
    char word[64];
    if (!model_filter_check_can(filter, catalog, word))
        return print_misuse(
            "unknown capability \"%s\"; --can accepts " CAPABILITIES
            ", " PURPOSES,
            word);
    if (!filter->provider || catalog_has(catalog, filter->provider))
        return END_DONE;
    size_t len = strlen(filter->provider);
    return registry_row(filter->provider, len)
               ? END_DONE
               : registry_reject_provider(filter->provider, len);
}

static int show_providers(const struct model_filter *filter)
{
    if (settings.json)
        print_json(registry_list(), ALLM_JSON_PRETTY);
    for (const allm_json *row = NULL;
         !settings.json && (row = registry_next(row));) {
        const char *name = member_read(row, "name");
        const char *url = member_read(row, "base_url");
        const char *variable = member_read(row, "base_url_variable");
        if (registry_is_http(row) && model_filter_matches_name(filter, name))
            print_format("%-22s %-12s %s%s\n", name,
                         member_read(row, "dialect"), url ? url : "set ",
                         url ? "" : variable);
    }
    return END_DONE;
}

/* allm models default [M]: print or set the setting `model`. */
static int change_default(int argc, char **argv)
{
    struct target t = { .next = 0 };
    if (argc > 1)
        return print_misuse("models default takes one model");
    int code = target_choose(&t, argc ? argv[0] : NULL);
    if (code == END_DONE && !argc)
        print_format("%s\n", t.name);
    target_release(&t);
    if (code != END_DONE || !argc)
        return code;
    char set[] = "set", model[] = "model";
    char *words[] = { set, model, argv[0], NULL };
    return command_find("config")->run(3, words);
}

static int run_models_command(int argc, char **argv)
{
    if (!flags_read(flags, &settings, &argc, argv))
        return END_USAGE;
    if (argc && !strcmp(argv[0], "default"))
        return change_default(argc - 1, argv + 1);
    if (argc && suggest_distance("default", argv[0]) <= 2)
        return print_misuse("unknown subcommand \"%.40s\" of models; did you "
                            "mean \"default\"?",
                            argv[0]);
    struct model_filter filter = { settings.provider, settings.can, argc,
                                   argv };
    if (settings.providers)
        return show_providers(&filter);
    allm_catalog *catalog = catalog_open();
    int code = catalog ? check_filter(catalog, &filter) : END_USAGE;
    if (code == END_DONE)
        code = settings.model ? provider_models_list(settings.model, catalog,
                                                     &filter, settings.json)
                              : show_models(catalog, &filter);
    allm_catalog_free(catalog);
    return code;
}

const struct command models_command = {
    .name = "models",
    .usage = "[--provider NAME] [--can LIST] [-m PROVIDER:] [WORD...]",
    .summary = "list models with their limits and prices, or providers",
    .more =
        "models default [MODEL] prints or sets the model of calls without -m.\n"
        "WORDs select the models whose names contain all of them.  LIST has "
        "one or more\nof " CAPABILITIES ",\n"
        PURPOSES ", separated by commas.  The file that\n"
        "ALLM_CATALOG names, or ~/.config/allm/catalog.json, adds models and "
        "overrides\nwhat is known of them; it has the form of "
        "data/catalog.json.\n",
    .examples = "allm models --can vision mini\n"
                "allm models -m ollama:\n"
                "allm models default openai:gpt-5-mini\n",
    .flags = flags,
    .group = GROUP_SETUP,
    .run = run_models_command,
};
