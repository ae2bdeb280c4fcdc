/*
 * target_key.c - the key for a call, and only for its own address
 *
 *      known provider, its own address or one from the user: as the library
 *      the user's own provider:    a store without variables, and one key
 *      an address from a project:  the same, and only the key of --key
 */
#include "cli/target_key.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/reword.h"
#include "cli/settings.h"
#include "conf/keyring.h"
#include "conf/trusted.h"

#include <stdio.h>
#include <string.h>

/* Print why a stored key cannot be used. */
static int report_keyring(enum keyring_result r, const char *what)
{
    if (r == KEYRING_COMMAND)
        print_fault("the command of the key %.100s (cmd:) failed, or took "
                    "longer than 10 s; run it in a shell to see why, and "
                    "allm doctor",
                    what);
    else if (r == KEYRING_UNUSABLE)
        print_fault("keys.json cannot be used: it must be a JSON object that "
                    "only you can read (chmod 600; allm config path shows "
                    "where)");
    else if (r == KEYRING_EMPTY)
        print_fault("the key %.100s is not set: the variable or the file that "
                    "it comes from is missing or empty",
                    what);
    else
        print_fault("there is no key \"%.100s\"; store it with: allm keys set "
                    "%.100s",
                    what, what);
    return r == KEYRING_UNUSABLE ? END_USAGE : END_KEY;
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

int target_key_find(const allm_keys *keys, const char *provider,
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

static const char *find_no_variable(void *ud, const char *name)
{
    (void)ud;
    (void)name;
    return NULL;
}

/* Do options of the project's file name an address for this model? */
static bool has_project_options(const char *name)
{
    const allm_json *all = config_of_project(settings_config(), "options");
    for (const allm_json *k = NULL; (k = allm_json_next(all, k));)
        if (model_name_matches(allm_json_text(k, NULL), name) &&
            trusted_sets_address(allm_json_value(k)))
            return true;
    return false;
}

/* Is an address of this provider set by the project's file? */
static bool is_set_by_project(const char *provider)
{
    static const char *const members[] = { "like", "base_url", "headers",
                                           "proxy", "cacert" };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char path[128];
        size_t line;
        snprintf(path, sizeof path, "providers.%s.%s", provider, members[i]);
        const struct config_layer *l = config_origin(settings_config(), path,
                                                     &line);
        if (l && l->is_project)
            return true;
    }
    return false;
}

bool target_key_foreign(const struct model_name *m)
{
    return m->foreign || has_project_options(m->name) ||
           is_set_by_project(m->provider);
}

/* providers.NAME.key, unless a project sets the address; or NULL. */
static const char *find_setting(const struct model_name *m, char path[128])
{
    snprintf(path, 128, "providers.%s.key", m->provider);
    return target_key_foreign(m) ? NULL : settings_text(path);
}

bool target_key_is_set(const struct model_name *m)
{
    char path[128];
    return find_setting(m, path) != NULL;
}

/* --key NAME, or else providers.NAME.key.  END_MISS: neither is set. */
static int take_named(const struct model_name *m, const char *name,
                      struct bytes *key)
{
    char path[128];
    const char *set = find_setting(m, path);
    set = name ? NULL : set;
    const char *what = name ? name : set;
    if (!what)
        return END_MISS;
    enum keyring_result r = set && keyring_is_reference(set)
                                ? keyring_follow(set, key)
                                : keyring_find(what, key);
    if (r == KEYRING_NONE && set) {
        bytes_text(key, set); /* the key itself */
        r = KEYRING_FOUND;
    }
    return r == KEYRING_FOUND ? END_DONE
                              : report_keyring(r, name ? name : path);
}

/* Find the key by the provider's own name: the library, then keys.json. */
static int take_usual(const char *provider, const allm_keys *usual,
                      struct bytes *key)
{
    int code = target_key_find(usual, provider, NULL);
    if (code == END_DONE) {
        allm_text *text = allm_keys_get(usual, provider, NULL, NULL);
        bytes_text(key, allm_text_bytes(text, NULL));
        allm_text_free(text);
    }
    if (code != END_KEY)
        return code;
    enum keyring_result r = keyring_find(provider, key);
    return r == KEYRING_FOUND  ? END_DONE
           : r == KEYRING_NONE ? END_KEY
                               : report_keyring(r, provider);
}

allm_keys *target_key_store(const struct model_name *m, const char *name,
                            int *code)
{
    struct bytes key = { NULL, 0, 0 };
    bool foreign = target_key_foreign(m);
    bool own = foreign || strcmp(m->provider, m->like) != 0;
    allm_keys *usual = allm_keys_new(ALLM(keys_opts, .load_dotenv = 1));
    allm_keys *store =
        own ? allm_keys_new(ALLM(keys_opts, .env = find_no_variable))
            : allm_keys_keep(usual);
    *code = take_named(m, name, &key);
    if (*code == END_MISS && !foreign)
        *code = take_usual(m->provider, usual, &key);
    else if (*code == END_MISS)
        *code = END_KEY;
    if (*code == END_DONE && key.len)
        allm_keys_put(store, m->like, key.ptr);
    if (*code == END_KEY && foreign && !m->keyless)
        print_note("no key goes to an address that the project sets; name one "
                   "with --key");
    keyring_wipe(&key);
    allm_keys_free(usual);
    return store;
}
