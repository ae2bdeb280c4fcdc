/* target.c - choose the model and its key */
#include "cli/target.h"

#include "cli/catalog.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/reword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

allm_keys *target_keys(void)
{
    return allm_keys_new(ALLM(keys_opts, .load_dotenv = 1));
}

/* END_KEY: there is no key; any other error is printed, but only once. */
static int report_key_error(const allm_error *error)
{
    static bool reported;
    int code = exit_of_error(error);
    if (code != END_KEY && !reported) {
        reword_print(error);
        reported = true;
    }
    return code;
}

int target_find_key(const allm_keys *keys, const char *provider,
                    const char **source)
{
    const char *from = NULL;
    allm_text *key = allm_keys_get(keys, provider, NULL, &from);
    const allm_error *error = allm_text_error(key);
    int code = error ? report_key_error(error) : END_DONE;
    if (source)
        *source = code == END_DONE ? from : NULL;
    allm_text_free(key);
    return code;
}

static bool set_model(struct target *t, const char *provider, const char *id)
{
    int n = provider
                ? snprintf(t->model, sizeof t->model, "%s:%s", provider, id)
                : snprintf(t->model, sizeof t->model, "%s", id);
    return n > 0 && (size_t)n < sizeof t->model;
}

static int report_no_model(void)
{
    print_fault("no model is configured: ALLM_MODEL is not set, and there is "
                "no key such as OPENAI_API_KEY in the environment or in ./.env "
                "(allm keys lists the variables)");
    print_fault("a local server needs no key: allm -m ollama:llama3.2 "
                "... (Ollama) or allm -m llamacpp:default ... (llama.cpp)");
    print_fault("to try the program without either: allm demo");
    return END_KEY;
}

/* Choose the default model of this provider; END_DONE: it has a key.  Providers
 * that need no key are used only if the user names them. */
static int try_provider(struct target *t, const allm_json *rows,
                        const allm_json *provider)
{
    int64_t first = 0;
    const char *name = registry_text(provider, "name");
    const allm_json *row = registry_row(rows, name, strlen(name));
    if (!row || registry_is_keyless(row))
        return END_KEY;
    int code = target_find_key(t->keys, name, NULL);
    allm_json_int64(allm_json_get(provider, "first"), &first);
    const allm_model_ref *ref = code == END_DONE
                                    ? allm_catalog_at(t->catalog, (size_t)first)
                                    : NULL;
    if (ref)
        set_model(t, ref->provider, ref->id);
    return code;
}

/* Choose the default model of the first provider that has a key. */
static int choose_by_key(struct target *t)
{
    int code = END_KEY;
    allm_json *rows = allm_registry_list();
    allm_json *about = allm_catalog_summary(t->catalog);
    const allm_json *list = allm_json_get(about, "providers");
    const allm_json *p = NULL;
    while (code == END_KEY && (p = allm_json_next(list, p)))
        code = try_provider(t, rows, p);
    allm_json_free(about);
    allm_json_free(rows);
    return code == END_KEY ? report_no_model() : code;
}

/* Print why the model is unknown, and what to do. */
static void reject_model(const char *model, const char *colon, bool provider)
{
    if (provider)
        print_fault("\"%.200s\" names a provider, but no model; use -m "
                    "PROVIDER:MODEL (allm models -m %.*s: lists them)",
                    model, (int)strcspn(model, ":"), model);
    else if (colon)
        print_fault("there is no provider \"%.*s\" (allm models --providers "
                    "lists them); for an OpenAI-compatible server, set "
                    "OPENAI_CHAT_BASE_URL and use -m openai_chat:MODEL",
                    (int)(colon - model < 200 ? colon - model : 200), model);
    else
        print_fault("unknown model \"%.200s\"; name its provider, too: -m "
                    "PROVIDER:MODEL (allm models lists them)",
                    model);
}

/* Resolve "provider:model", or a name that the catalog knows. */
static int resolve_model(struct target *t, const char *model)
{
    const char *colon = strchr(model, ':');
    allm_json *list = allm_registry_list();
    const allm_json *row = registry_row(list, model, strcspn(model, ":"));
    bool known = row && colon && colon[1];
    t->keyless = known && registry_is_keyless(row);
    const allm_model_ref *ref = known ? NULL
                                      : allm_catalog_find(t->catalog, model);
    int code = END_DONE;
    if (!known && !ref) {
        reject_model(model, colon, row != NULL);
        code = END_REQUEST;
    } else if (!set_model(t, ref ? ref->provider : NULL,
                          ref ? ref->id : model)) {
        print_fault("the name of the model is too long");
        code = END_USAGE;
    }
    allm_json_free(list);
    return code;
}

int target_choose(struct target *t, const char *model)
{
    const char *default_model = getenv("ALLM_MODEL");
    t->keys = target_keys();
    t->catalog = catalog_open();
    if (!t->catalog)
        return END_USAGE;
    if (model || (default_model && *default_model))
        return resolve_model(t, model ? model : default_model);
    return choose_by_key(t);
}

void target_release(struct target *t)
{
    allm_catalog_free(t->catalog);
    allm_keys_free(t->keys);
}
