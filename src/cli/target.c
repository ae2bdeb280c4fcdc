/* target.c - what to call: the model, its address, its key and its options */
#include "cli/target.h"

#include "cli/catalog.h"
#include "cli/exit.h"
#include "cli/model_name.h"
#include "cli/opts.h"
#include "cli/print.h"
#include "cli/registry.h"
#include "cli/settings.h"
#include "cli/target_key.h"
#include "conf/keyring.h"
#include "conf/member.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

allm_keys *target_keys(void)
{
    return allm_keys_new(ALLM(keys_opts, .load_dotenv = 1));
}

/* Does the setting providers.NAME.key give a key? */
static bool has_set_key(const char *provider)
{
    char path[128];
    snprintf(path, sizeof path, "providers.%s.key", provider);
    const char *set = settings_text(path);
    return set && (!keyring_is_reference(set) || keyring_has(set));
}

int target_find_key(const allm_keys *keys, const char *provider,
                    const char **source)
{
    if (has_set_key(provider)) {
        if (source)
            *source = "settings";
        return END_DONE;
    }
    int code = target_key_find(keys, provider, source);
    if (code != END_KEY || !keyring_has(provider))
        return code;
    if (source)
        *source = "keys.json";
    return END_DONE;
}

allm_json *target_providers_with_key(void)
{
    const allm_json *own = settings_value("providers");
    allm_keys *keys = target_keys();
    allm_json_build *b = member_new_array();
    for (const allm_json *row = NULL; (row = registry_next(row));) {
        const char *name = member_read(row, "name");
        if (registry_is_http(row) &&
            target_find_key(keys, name, NULL) == END_DONE)
            allm_json_build_text(b, name, ALLM_NUL_ENDED);
    }
    for (const allm_json *k = NULL; (k = allm_json_next(own, k));) {
        size_t len;
        const char *name = allm_json_text(k, &len);
        if (!registry_row(name, len) &&
            target_find_key(keys, name, NULL) == END_DONE)
            allm_json_build_text(b, name, len);
    }
    allm_keys_free(keys);
    return member_done(b);
}

/* ------------------------------------------------------------ options --- */

/* Put the members of an object over the options; NULL: none. */
static void add_options(struct target *t, const allm_json *more)
{
    if (!more)
        return;
    allm_json *all = t->options ? allm_json_merge(t->options, more)
                                : allm_json_copy(more);
    allm_json_free(t->options);
    t->options = all;
}

/* The settings options.GLOB, the shortest pattern first. */
static void add_defaults(struct target *t)
{
    const allm_json *all = settings_value("options");
    for (size_t len = 1, next; len; len = next) {
        next = 0;
        for (const allm_json *k = NULL; (k = allm_json_next(all, k));) {
            size_t n;
            const char *pattern = allm_json_text(k, &n);
            if (n == len && model_name_matches(pattern, t->name))
                add_options(t, allm_json_value(k));
            if (n > len && (!next || n < next))
                next = n;
        }
    }
}

/* Add "NAME: VALUE" to the headers; false: an error was printed. */
static bool add_header(allm_json **headers, const char *word)
{
    char name[128];
    const char *colon = strchr(word, ':');
    if (!colon || colon - word >= (long)sizeof name)
        return print_fault("-H needs 'NAME: VALUE'");
    snprintf(name, sizeof name, "%.*s", (int)(colon - word), word);
    const char *value = colon + 1 + strspn(colon + 1, " ");
    allm_json *text = member_alone(value, strlen(value));
    allm_json *more = allm_json_set(*headers, name, text);
    allm_json_free(*headers);
    allm_json_free(text);
    *headers = more;
    return true;
}

static void add_object(struct target *t, const char *key,
                       const allm_json *value)
{
    allm_json_build *b = member_new_object();
    member_value(b, key, value);
    allm_json *one = member_done(b);
    add_options(t, one);
    allm_json_free(one);
}

/* The headers of the provider.  They may hold a key, so the user's are not for
 * an address that a project sets. */
static const allm_json *headers_of(const struct model_name *m)
{
    char path[128];
    snprintf(path, sizeof path, "providers.%s.headers", m->provider);
    return target_key_foreign(m) ? config_of_project(settings_config(), path)
                                 : settings_value(path);
}

/* The headers of the provider, and -H over them. */
static int add_headers(struct target *t, const struct model_name *m)
{
    const struct flag_list *given = t->wish.headers;
    const allm_json *own = headers_of(m);
    bool ok = true;
    if (!own && (!given || !given->count))
        return END_DONE;
    allm_json *headers = own ? allm_json_copy(own)
                             : allm_json_parse("{}", 2, NULL);
    for (size_t i = 0; ok && given && i < given->count; i++)
        ok = add_header(&headers, given->word[i]);
    if (ok)
        add_object(t, "extra_headers", headers);
    allm_json_free(headers);
    return ok ? END_DONE : END_USAGE;
}

static const char *choose_text(const char *first, const char *second,
                               const char *third, const char *fourth)
{
    return first ? first : second ? second : third ? third : fourth;
}

/* A string of the provider's settings, unless a flag overrides it. */
static const char *text_of(const allm_json *provider, const char *key,
                           const char *flag)
{
    return flag ? flag : member_read(provider, key);
}

static void add_address(struct target *t, const char *url)
{
    allm_json *text = member_alone(url, strlen(url));
    add_object(t, "base_url", text);
    allm_json_free(text);
}

static int check_net(const allm_net_opts *net)
{
    if (!net->ca_file || !access(net->ca_file, R_OK))
        return END_DONE;
    return print_misuse("cannot read %.500s: %s; --cacert, or the setting "
                        "cacert of the provider, names a file with "
                        "certificates",
                        net->ca_file, strerror(errno));
}

/* Everything that depends on the model: defaults < alias < template < flags. */
static int add_everything(struct target *t, const struct model_name *m)
{
    const struct wish *w = &t->wish;
    const allm_json *provider = allm_json_get(settings_value("providers"),
                                              m->provider);
    const char *url = text_of(provider, "base_url", w->base_url);
    struct opts thoughts = { NULL };
    if (!w->no_text && !opts_put_reasoning_setting(&thoughts))
        return END_USAGE;
    add_options(t, thoughts.json);
    opts_release(&thoughts);
    add_defaults(t);
    add_options(t, m->options);
    add_options(t, w->template_options);
    int code = add_headers(t, m);
    if (url)
        add_address(t, url);
    add_options(t, w->options);
    t->net = (allm_net_opts){ .size = sizeof t->net };
    t->net.proxy = text_of(provider, "proxy", w->proxy);
    t->net.ca_file = text_of(provider, "cacert", w->cacert);
    t->system = choose_text(w->system, w->template_system, m->system,
                            settings_text("system"));
    return code == END_DONE && strcmp(m->like, "fake") != 0 ? check_net(&t->net)
                                                            : code;
}

allm_json *target_address(const struct target *t)
{
    static const char *const names[] = { "base_url", "extra_headers" };
    allm_json_build *b = member_new_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const allm_json *value = allm_json_get(t->options, names[i]);
        if (value)
            member_value(b, names[i], value);
    }
    return member_done(b);
}

/* ------------------------------------------------------------- models --- */

static void forget_model(struct target *t)
{
    allm_json_free(t->options);
    allm_keys_free(t->keys);
    t->options = NULL;
    t->keys = NULL;
}

/* Is it an error that the key was not found?  The library reports the missing
 * key of a known provider when it is needed. */
static int judge_key(const struct model_name *m, int found, bool need_key)
{
    if (found != END_KEY || need_key)
        return found;
    if (!strcmp(m->provider, m->like))
        return END_DONE;
    print_fault("there is no key for %s; store one with: allm keys set %s",
                m->provider, m->provider);
    return END_KEY;
}

/* Is the provider at its own address, so that the catalog knows it? */
static bool is_at_home(const struct target *t, const struct model_name *m)
{
    char variable[100];
    size_t n = 0;
    for (; m->provider[n] && n < 80; n++)
        variable[n] = (char)toupper((unsigned char)m->provider[n]);
    snprintf(variable + n, sizeof variable - n, "_BASE_URL");
    return !strcmp(m->provider, m->like) && !getenv(variable) &&
           !allm_json_get(t->options, "base_url");
}

/* A model that the catalog does not have may be new, or a typo. */
static void warn_unknown(const struct target *t, const struct model_name *m)
{
    if (m->keyless || t->wish.any_model || !is_at_home(t, m) ||
        allm_catalog_find(t->catalog, m->name))
        return;
    if (catalog_has(t->catalog, m->provider))
        print_note("%s is not in the list of models (allm models); it is used "
                   "nevertheless",
                   m->name);
}

/* Use this model.  END_KEY: it has no key; nothing was printed. */
static int use_model(struct target *t, const char *text, bool need_key)
{
    struct model_name m;
    int code, found;
    forget_model(t);
    code = model_name_resolve(&m, text, t->catalog);
    if (code == END_DONE) {
        snprintf(t->name, sizeof t->name, "%s", m.name);
        int n = snprintf(t->model, sizeof t->model, "%s:%s", m.like, m.id);
        t->keyless = m.keyless;
        t->keys = target_key_store(&m, t->wish.key, &found);
        code = add_everything(t, &m);
        if (code == END_DONE && n >= (int)sizeof t->model)
            code = END_USAGE;
        bool named = t->wish.key || (!t->wish.any_key && target_key_is_set(&m));
        if (code == END_DONE && named && found != END_DONE)
            code = found; /* another key is not what the user asked for */
        else if (code == END_DONE && !m.keyless && !t->wish.any_key)
            code = judge_key(&m, found, need_key);
        if (code == END_DONE)
            warn_unknown(t, &m);
    }
    model_name_release(&m);
    return code;
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
static int try_provider(struct target *t, const allm_json *provider)
{
    int64_t first = 0;
    char name[256];
    const char *its = member_read(provider, "name");
    const allm_json *row = registry_row(its, strlen(its));
    if (!row || registry_is_keyless(row))
        return END_KEY;
    int code = target_find_key(t->keys, its, NULL);
    allm_json_int64(allm_json_get(provider, "first"), &first);
    const allm_model_ref *ref = code == END_DONE
                                    ? allm_catalog_at(t->catalog, (size_t)first)
                                    : NULL;
    if (!ref)
        return code;
    snprintf(name, sizeof name, "%s:%s", ref->provider, ref->id);
    return use_model(t, name, true);
}

/* Choose the default model of the first provider that has a key. */
static int choose_by_key(struct target *t)
{
    int code = END_KEY;
    allm_json *about = allm_catalog_summary(t->catalog);
    const allm_json *list = allm_json_get(about, "providers");
    const allm_json *p = NULL;
    t->keys = target_keys();
    while (code == END_KEY && (p = allm_json_next(list, p)))
        code = try_provider(t, p);
    allm_json_free(about);
    return code == END_KEY ? report_no_model() : code;
}

/* ------------------------------------------------------------ routing --- */

/* The model at this index of a task's list; NULL: no more. */
static const char *model_of_task(const struct target *t, size_t index)
{
    const char *only = allm_json_text(t->list, NULL);
    return only ? (index ? NULL : only)
                : allm_json_text(allm_json_at(t->list, index), NULL);
}

static int find_task(struct target *t, const char *task)
{
    const allm_json *routing = settings_value("routing");
    t->list = allm_json_get(routing, task);
    if (!t->list)
        t->list = allm_json_get(routing, "default");
    t->next = 0;
    if (t->list)
        return END_DONE;
    return print_misuse(
        "there is no routing for the task \"%.100s\", and no default; set it "
        "with: allm config set routing.%.100s PROVIDER:MODEL",
        task, task);
}

static void note_skipped(void *ud, const char *model, const char *reason)
{
    (void)ud;
    print_note("%s is skipped: %s", model, reason);
}

/* Use the next model of the task that has a key; END_KEY: there is none. */
static int use_next(struct target *t, target_skip skip, void *ud)
{
    const char *model;
    int code = END_KEY;
    while (code == END_KEY && (model = model_of_task(t, t->next))) {
        t->next++;
        code = use_model(t, model, true);
        if (code == END_KEY)
            skip(ud, model, "it has no key");
    }
    return code;
}

int target_route(struct target *t, const char *task, target_skip skip, void *ud)
{
    int code = settings_open();
    *t = (struct target){ .next = 0 };
    if (code == END_DONE)
        code = find_task(t, task);
    if (code != END_DONE)
        return code;
    t->catalog = catalog_open();
    code = t->catalog ? use_next(t, skip, ud) : END_USAGE;
    if (code == END_KEY)
        print_fault("no model of the task \"%.100s\" has a key", task);
    return code;
}

/* Why another model may succeed; NULL: it would not. */
static const char *reason_to_change(const allm_error *error)
{
    int code = exit_of_error(error);
    if (error->reason && !strcmp(error->reason, "context_length_exceeded"))
        return "the conversation is too long for it";
    if (code == END_KEY && error->reason &&
        !strcmp(error->reason, "missing_key"))
        return "it has no key";
    return code == END_TRANSIENT ? error->message : NULL;
}

bool target_fall_back(struct target *t, const allm_error *error)
{
    const char *reason = error && t->list ? reason_to_change(error) : NULL;
    const char *next = reason ? model_of_task(t, t->next) : NULL;
    if (!next)
        return false;
    print_note("%s failed (%.200s); trying %s", t->name, reason, next);
    return use_next(t, note_skipped, NULL) == END_DONE;
}

/* -------------------------------------------------------------- whole --- */

static int check_key_name(const char *name)
{
    if (!name || !keyring_looks_secret(name))
        return END_DONE;
    return print_misuse(
        "--key takes the name of a key, not the key itself; store it with: "
        "allm keys set NAME");
}

static int resolve_task(struct target *t, const char *task)
{
    int code = find_task(t, task);
    if (code == END_DONE)
        code = use_next(t, note_skipped, NULL);
    if (code == END_KEY)
        print_fault("no model of the task \"%.100s\" has a key", task);
    return code;
}

int target_resolve(struct target *t, const struct wish *wish)
{
    *t = (struct target){ .wish = *wish };
    int code = check_key_name(wish->key);
    if (code == END_DONE)
        code = settings_open();
    if (code != END_DONE)
        return code;
    t->catalog = catalog_open();
    if (!t->catalog)
        return END_USAGE;
    if (!wish->model && wish->task)
        return resolve_task(t, wish->task);
    const char *model = choose_text(wish->model, wish->session,
                                    wish->template_model,
                                    settings_text("model"));
    return model ? use_model(t, model, false) : choose_by_key(t);
}

int target_choose(struct target *t, const char *model)
{
    struct wish wish = { .model = model };
    return target_resolve(t, &wish);
}

void target_release(struct target *t)
{
    forget_model(t);
    allm_catalog_free(t->catalog);
    *t = (struct target){ .next = 0 };
}
