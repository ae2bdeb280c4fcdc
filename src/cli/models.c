/* models.c - allm models: what the catalog knows, and who can be asked */
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"

#include "allm.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct wish {
    bool json, providers;
} wish;

static const struct flag flags[] = {
    { 0, "--providers", FLAG_SWITCH, offsetof(struct wish, providers), NULL,
      "the providers and their addresses instead" },
    { 0, "--json", FLAG_SWITCH, offsetof(struct wish, json), NULL,
      "as a JSON list" },
    { .name = NULL },
};

/* Does the name have all the words in it? */
static bool fits(const char *name, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (!strstr(name, argv[i]))
            return false;
    return true;
}

/* --------------------------------------------------------------- catalog --- */

static void print_model(const allm_model_ref *m, const char *name)
{
    static const char *const words[] = { "tools", "vision", "reasoning" };
    char price[64] = "", able[64] = "";
    const allm_json *in = allm_json_get(m->pricing, "input");
    const allm_json *out = allm_json_get(m->pricing, "output");
    int64_t context = 0;
    if (in && out)
        snprintf(price, sizeof price, "$%g/$%g", allm_json_number(in),
                 allm_json_number(out));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const allm_json *has = allm_json_get(m->capabilities, words[i]);
        size_t len = strlen(able);
        if (allm_json_true(has) ||
            allm_json_true(allm_json_get(has, "enabled")))
            snprintf(able + len, sizeof able - len, " %s", words[i]);
    }
    allm_json_int64(allm_json_get(m->limits, "context"), &context);
    print_format("%-40s %8lld  %-12s%s\n", name, (long long)context, price,
                 able);
}

static void put_model(allm_json_build *b, const allm_model_ref *m)
{
    size_t len = 0;
    allm_text *text = allm_model_ref_json(m, ALLM_FORM_PLAIN);
    const char *bytes = allm_text_bytes(text, &len);
    allm_json *value = allm_json_parse(bytes ? bytes : "null", bytes ? len : 4,
                                       NULL);
    allm_json_build_value(b, value);
    allm_json_free(value);
    allm_text_free(text);
}

static size_t list_models(const allm_catalog *catalog, int argc, char **argv)
{
    const allm_model_ref *m;
    size_t count = 0;
    allm_json_build *b = allm_json_build_new(NULL);
    allm_json_build_array(b);
    for (size_t i = 0; (m = allm_catalog_at(catalog, i)); i++) {
        char name[256];
        snprintf(name, sizeof name, "%s:%s", m->provider, m->id);
        if (!fits(name, argc, argv))
            continue;
        if (wish.json)
            put_model(b, m);
        else
            print_model(m, name);
        count++;
    }
    allm_json_build_end(b);
    allm_json *list = allm_json_build_done(b);
    if (wish.json)
        print_json(list, ALLM_JSON_PRETTY);
    allm_json_free(list);
    return count;
}

static int show_models(int argc, char **argv)
{
    allm_catalog *catalog = allm_catalog_new(NULL);
    const allm_error *error = allm_catalog_error(catalog);
    if (error)
        print_fault("%s", error->message);
    size_t count = error ? 0 : list_models(catalog, argc, argv);
    allm_catalog_free(catalog);
    if (!error && !count)
        print_note("the catalog has no such model; a provider may have it all "
                   "the same: allm -m PROVIDER:MODEL ...");
    else if (!error && !wish.json)
        print_note("name, tokens of context, US dollars for a million tokens "
                   "in/out; others work, too: allm models --providers");
    return error ? END_FAILED : END_DONE;
}

/* ------------------------------------------------------------- providers --- */

static int show_providers(int argc, char **argv)
{
    allm_json *list = allm_registry_list();
    if (wish.json)
        print_json(list, ALLM_JSON_PRETTY);
    for (const allm_json *row = NULL;
         !wish.json && (row = allm_json_next(list, row));) {
        const char *name = registry_text(row, "name");
        const char *url = registry_text(row, "base_url");
        const char *variable = registry_text(row, "base_url_variable");
        if (registry_is_http(row) && fits(name, argc, argv))
            print_format("%-22s %-12s %s%s\n", name,
                         registry_text(row, "dialect"), url ? url : "set ",
                         url ? "" : variable);
    }
    allm_json_free(list);
    return END_DONE;
}

static int run(int argc, char **argv)
{
    if (!flags_read(flags, &wish, &argc, argv))
        return END_USAGE;
    return wish.providers ? show_providers(argc, argv)
                          : show_models(argc, argv);
}

const struct command models_command = {
    .name = "models",
    .usage = "[--providers] [WORD...]",
    .summary = "list models with their limits and prices, or providers",
    .more = "With words, only names that have them all.\n",
    .flags = flags,
    .run = run,
};
