/*
 * keys.c - the sources of API keys, in the order of their precedence
 *
 *      opts > runtime > app_config > env > dotenv
 *
 * Each level is a function that looks for a value; the first non-empty value
 * counts.  A value is read with the lock held, and copied before the lock is
 * released.
 *
 * Invariants
 *   (1) Every copy of a value is in memory that is wiped when it is freed.
 *   (2) No error contains a value.
 *   (3) Members below the lock are accessed only with it held; the others do
 *       not change after construction.
 */
#include "engine/keys.h"

#include "base/buf.h"
#include "base/caller_struct.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/dotenv.h"
#include "provider/registry.h"
#include "json/build.h"
#include "json/json.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { DOTENV_LIMIT = 1024 * 1024, VARIABLE_LIMIT = 4096 };

/* A provider and its key, in one block of memory that is wiped when freed. */
struct entry {
    struct entry *next;
    size_t size;
    struct slice provider, key;
};

struct allm_keys {
    atomic_size_t count;
    struct mem mem;
    struct arena arena;         /* for path and error */
    const allm_error *error;
    const char *dotenv_path;    /* NULL: do not read a .env file */
    allm_env_fn env;
    void *env_ud;

    pthread_mutex_t lock;
    struct entry *runtime, *config;
    struct arena file;          /* wiped when freed; the text of the file */
    struct slice dotenv;
    bool dotenv_loaded;
};

/* ------------------------------------------------------------ entries --- */

static struct entry *entry_new(allm_keys *k, struct slice provider,
                               struct slice key)
{
    size_t size;
    if (!provider.ptr || !key.ptr ||
        !mem_add(sizeof(struct entry), provider.len, &size) ||
        !mem_add(size, key.len, &size))
        return NULL;
    struct entry *e = mem_alloc(secret_mem(&k->mem), size);
    if (!e)
        return NULL;
    char *bytes = (char *)(e + 1);
    memcpy(bytes, provider.ptr, provider.len);
    memcpy(bytes + provider.len, key.ptr, key.len);
    *e = (struct entry){ .size = size,
                         .provider = { bytes, provider.len },
                         .key = { bytes + provider.len, key.len } };
    return e;
}

static void entries_free(allm_keys *k, struct entry *e)
{
    while (e) {
        struct entry *next = e->next;
        mem_free(secret_mem(&k->mem), e, e->size);
        e = next;
    }
}

static struct slice entries_find(const struct entry *e, struct slice provider)
{
    while (e && !slice_eq(e->provider, provider))
        e = e->next;
    return e ? e->key : (struct slice){ NULL, 0 };
}

/* Replace the provider's entry (by NULL: remove it); return the old one. */
static struct entry *entries_swap(struct entry **list, struct slice provider,
                                  struct entry *replacement)
{
    while (*list && !slice_eq((*list)->provider, provider))
        list = &(*list)->next;
    struct entry *old = *list;
    if (replacement)
        replacement->next = old ? old->next : NULL;
    if (old || replacement)
        *list = replacement ? replacement : old->next;
    if (old)
        old->next = NULL;
    return old;
}

/* ---------------------------------------------------------- variables --- */

/* Providers with a second variable; the first is derived from the name. */
static const struct {
    const char *provider, *variable;
} second_variables[] = {
    { "gemini", "GOOGLE_API_KEY" },
};

/* "OPENAI_API_KEY": upper case, with _ for characters not allowed in names. */
static const char *first_variable(struct arena *a, const char *provider)
{
    struct buf name = buf_in(a, VARIABLE_LIMIT);
    for (const char *p = provider; *p; p++) {
        bool lower = *p >= 'a' && *p <= 'z';
        bool fits = (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        buf_byte(&name, lower ? (char)(*p - 'a' + 'A') : fits ? *p : '_');
    }
    buf_text(&name, "_API_KEY");
    return name.broken ? NULL : name.ptr;
}

/* The variable that the provider's documentation names. */
static const char *named_variable(const char *provider)
{
    const struct registry_row *row = registry_find(slice_of(provider));
    return row ? row->key_env : NULL;
}

static const char *second_variable(const char *provider)
{
    for (size_t i = 0; i < sizeof second_variables / sizeof *second_variables;
         i++)
        if (!strcmp(second_variables[i].provider, provider))
            return second_variables[i].variable;
    return NULL;
}

/* ------------------------------------------------------------- levels --- */

/* The state of a search.  A level that finds a key sets `value`. */
struct search {
    allm_keys *keys;            /* NULL: no store */
    const char *provider;
    const char *call_key;
    const char *variable[2];    /* the second may be NULL */
    bool optional;              /* a missing key is not an error */
    struct arena *errors;
    struct slice value;
    const char *source;
    const allm_error *error;
};

static void find_in_call(struct search *s)
{
    s->value = slice_of(s->call_key);
}

static void find_in_runtime(struct search *s)
{
    if (s->keys)
        s->value = entries_find(s->keys->runtime, slice_of(s->provider));
}

static void find_in_config(struct search *s)
{
    if (s->keys)
        s->value = entries_find(s->keys->config, slice_of(s->provider));
}

static const char *get_variable(void *ud, const char *name)
{
    (void)ud;
    return getenv(name);
}

static void find_in_env(struct search *s)
{
    allm_env_fn env = s->keys ? s->keys->env : get_variable;
    void *ud = s->keys ? s->keys->env_ud : NULL;
    for (size_t i = 0; i < 2 && s->variable[i] && !s->value.len; i++)
        s->value = slice_of(env(ud, s->variable[i]));
}

static void refuse_dotenv(struct search *s, int why)
{
    s->error = why == ENOMEM
                   ? status_nomem()
                   : status_error(s->errors, ALLM_ERR_MISUSE,
                                  "unreadable_dotenv",
                                  "the file \"%s\" cannot be read (%s); make "
                                  "it readable, name another one in "
                                  "dotenv_path, or leave load_dotenv out",
                                  s->keys->dotenv_path, file_error_words(why));
}

/* Read the file when it is first needed; a missing one counts as empty. */
static bool load_dotenv(struct search *s)
{
    allm_keys *k = s->keys;
    if (k->dotenv_loaded)
        return true;
    int why = file_read_regular(&k->file, k->dotenv_path, DOTENV_LIMIT,
                                &k->dotenv);
    k->dotenv_loaded = why == 0 || why == ENOENT;
    if (k->dotenv_loaded)
        return true;
    arena_release(&k->file);
    refuse_dotenv(s, why);
    return false;
}

static void find_in_dotenv(struct search *s)
{
    if (!s->keys || !s->keys->dotenv_path || !load_dotenv(s))
        return;
    for (size_t i = 0; i < 2 && s->variable[i] && !s->value.len; i++)
        dotenv_find(s->keys->dotenv, slice_of(s->variable[i]), &s->value);
}

static const struct level {
    const char *source;
    void (*find)(struct search *s);
} levels[] = {
    { "opts", find_in_call },     { "runtime", find_in_runtime },
    { "app_config", find_in_config }, { "env", find_in_env },
    { "dotenv", find_in_dotenv },
};

enum { LEVELS = sizeof levels / sizeof *levels };

/* The last level, the .env file, counts only if the caller enabled it. */
static size_t levels_of(const struct search *s)
{
    return s->keys && s->keys->dotenv_path ? LEVELS : LEVELS - 1;
}

/* ------------------------------------------------------------- search --- */

static const allm_json *checked_sources(const struct search *s)
{
    struct build b = build_object_in(s->errors);
    build_array_at(&b, "checked_sources");
    for (size_t i = 0; i < levels_of(s); i++)
        build_text(&b, slice_of(levels[i].source));
    build_end(&b);
    return build_finish(&b);
}

static const allm_error *missing_key(const struct search *s)
{
    const char *second = s->variable[1];
    allm_error *e = status_draft(
        s->errors, ALLM_ERR_ENGINE, "missing_key",
        "there is no API key for \"%s\"; set %s%s%s in the environment, pass "
        "one to allm_keys_put(), or set api_key for the call",
        s->provider, s->variable[0], second ? " or " : "",
        second ? second : "");
    if (!e)
        return status_nomem();
    e->provider = arena_text(s->errors, s->provider);
    e->metadata = checked_sources(s);
    return e->provider && e->metadata ? e : status_nomem();
}

/* Search all levels, with the lock held; the value is valid until it is
 * released.  Returns NULL if the key was found, or is optional. */
static const allm_error *search_levels(struct search *s)
{
    for (size_t i = 0; i < levels_of(s) && !s->error; i++) {
        s->value = (struct slice){ NULL, 0 };
        levels[i].find(s);
        if (s->value.len) {
            s->source = levels[i].source;
            return NULL;
        }
    }
    if (s->error || s->optional)
        return s->error;
    return missing_key(s);
}

static const allm_error *prepare_search(struct search *s)
{
    if (s->keys && s->keys->error)
        return status_retell(s->errors, s->keys->error);
    if (!s->provider || !*s->provider)
        return status_error(s->errors, ALLM_ERR_MISUSE, "invalid_provider",
                            "a key is looked up by the name of its provider, "
                            "such as \"openai\"");
    const char *named = named_variable(s->provider);
    s->variable[0] = first_variable(s->errors, s->provider);
    s->variable[1] = second_variable(s->provider);
    if (named && s->variable[0] && strcmp(named, s->variable[0]) != 0) {
        s->variable[1] = s->variable[0];
        s->variable[0] = named;
    }
    if (s->variable[0])
        return NULL;
    if (s->errors->broken)
        return status_nomem();
    return status_error(s->errors, ALLM_ERR_MISUSE, "invalid_provider",
                        "the provider's name is too long for an environment "
                        "variable; use a short one, such as \"openai\"");
}

/* Search, and pass the value to take() before the lock is released. */
static const allm_error *find_key(struct search *s,
                                  bool (*take)(void *to, struct slice value),
                                  void *to)
{
    const allm_error *error = prepare_search(s);
    if (error)
        return error;
    if (s->keys)
        pthread_mutex_lock(&s->keys->lock);
    error = search_levels(s);
    if (!error && s->source && !take(to, s->value))
        error = status_nomem();
    if (s->keys)
        pthread_mutex_unlock(&s->keys->lock);
    return error;
}

/* Its count and lock change even through a const pointer. */
static allm_keys *unconst(const allm_keys *k)
{
    return (allm_keys *)(uintptr_t)k;
}

static bool take_secret(void *to, struct slice value)
{
    struct secret *s = to;
    return secret_set(s, s->mem, value);
}

const allm_error *keys_look_up(const allm_keys *keys, const char *provider,
                               const char *call_key, bool optional,
                               struct arena *errors, struct secret *out,
                               const char **source)
{
    struct search s = { .keys = unconst(keys),
                        .provider = provider,
                        .call_key = call_key,
                        .optional = optional,
                        .errors = errors };
    struct secret key = { .mem = errors->mem };
    const allm_error *error = find_key(&s, take_secret, &key);
    *source = error ? NULL : s.source;
    if (error || !s.source)
        return error;
    secret_release(out);
    *out = key;
    return NULL;
}

const char *keys_env(const allm_keys *keys, const char *name, struct arena *a)
{
    allm_keys *k = unconst(keys);
    if (!k)
        return arena_text(a, get_variable(NULL, name));
    pthread_mutex_lock(&k->lock);
    const char *value = arena_text(a, k->env(k->env_ud, name));
    pthread_mutex_unlock(&k->lock);
    return value;
}

/* ------------------------------------------------------- construction --- */

static allm_keys *keys_alloc(struct mem mem)
{
    allm_keys *k = mem_alloc(mem, sizeof *k);
    if (!k)
        return NULL;
    *k = (allm_keys){ .mem = mem };
    atomic_init(&k->count, 1);
    arena_init(&k->arena, mem);
    arena_init(&k->file, secret_mem(&k->mem));
    if (pthread_mutex_init(&k->lock, NULL) == 0)
        return k;
    mem_free(mem, k, sizeof *k);
    return NULL;
}

static const allm_error *misuse(allm_keys *k, const char *reason,
                                const char *message)
{
    return status_error(&k->arena, ALLM_ERR_MISUSE, reason, "%s", message);
}

/* Read the entries of a configuration; null and "" mean no key.  False, with
 * *list NULL: it is invalid (*fits is false), or out of memory. */
static bool read_config(allm_keys *k, const allm_json *config,
                        struct entry **list, bool *fits)
{
    allm_json_type type = allm_json_type_of(config);
    *list = NULL;
    *fits = !config || type == ALLM_JSON_NULL || type == ALLM_JSON_OBJECT;
    for (const allm_json *p = NULL; *fits && (p = allm_json_next(config, p));) {
        struct slice key = json_slice(allm_json_value(p));
        *fits = allm_json_type_of(allm_json_value(p)) == ALLM_JSON_NULL ||
                (key.ptr && !memchr(key.ptr, 0, key.len));
        struct entry *e = *fits && key.len ? entry_new(k, json_slice(p), key)
                                           : NULL;
        if (e) {
            e->next = *list;
            *list = e;
        } else if (!*fits || key.len) {
            entries_free(k, *list);
            *list = NULL;
            return false;
        }
    }
    return *fits;
}

static const allm_error *take_opts(allm_keys *k, const allm_keys_opts *o)
{
    bool fits;
    k->env = o->env ? o->env : get_variable;
    k->env_ud = o->env_ud;
    if (o->load_dotenv)
        k->dotenv_path = arena_text(&k->arena,
                                    o->dotenv_path ? o->dotenv_path : ".env");
    if (k->arena.broken)
        return status_nomem();
    if (read_config(k, o->config, &k->config, &fits))
        return NULL;
    return fits ? status_nomem()
                : misuse(k, "invalid_config",
                         "config must be an object with the keys by provider, "
                         "as strings, such as {\"openai\": \"...\"}");
}

allm_keys *allm_keys_new(const allm_keys_opts *given)
{
    allm_keys_opts o;
    bool taken = caller_struct_take(&o, sizeof o, given);
    allm_keys *k = keys_alloc(mem_from(o.allocator));
    if (!k)
        return NULL;
    k->error = taken ? take_opts(k, &o)
                     : misuse(k, "struct_size",
                              "fill the options with ALLM(keys_opts, ...)");
    if (k->error != status_nomem())
        return k;
    allm_keys_free(k);
    return NULL;
}

const allm_error *allm_keys_error(const allm_keys *k)
{
    return k ? k->error : status_nomem();
}

allm_keys *allm_keys_keep(const allm_keys *k)
{
    if (k)
        atomic_fetch_add_explicit(&unconst(k)->count, 1, memory_order_relaxed);
    return unconst(k);
}

void allm_keys_free(allm_keys *k)
{
    if (!k ||
        atomic_fetch_sub_explicit(&k->count, 1, memory_order_acq_rel) != 1)
        return;
    entries_free(k, k->runtime);
    entries_free(k, k->config);
    arena_release(&k->file);
    arena_release(&k->arena);
    pthread_mutex_destroy(&k->lock);
    mem_free(k->mem, k, sizeof *k);
}

/* Check the store and the arguments: NOMEM, MISUSE, or OK. */
static allm_status check_usable(const allm_keys *k, const char *provider,
                                const char *key)
{
    if (!k)
        return ALLM_ERR_NOMEM;
    return k->error || !provider || !*provider || !key ? ALLM_ERR_MISUSE
                                                       : ALLM_OK;
}

allm_status allm_keys_put(allm_keys *k, const char *provider, const char *key)
{
    allm_status status = check_usable(k, provider, key);
    if (status != ALLM_OK)
        return status;
    struct slice name = slice_of(provider);
    struct entry *replacement = *key ? entry_new(k, name, slice_of(key)) : NULL;
    if (*key && !replacement)
        return ALLM_ERR_NOMEM;
    pthread_mutex_lock(&k->lock);
    struct entry *old = entries_swap(&k->runtime, name, replacement);
    pthread_mutex_unlock(&k->lock);
    entries_free(k, old);
    return ALLM_OK;
}

allm_status allm_keys_delete(allm_keys *k, const char *provider)
{
    return allm_keys_put(k, provider, "");
}

allm_status allm_keys_clear(allm_keys *k)
{
    allm_status status = check_usable(k, "any", "");
    if (status != ALLM_OK)
        return status;
    pthread_mutex_lock(&k->lock);
    struct entry *old = k->runtime;
    k->runtime = NULL;
    arena_release(&k->file);
    k->dotenv = (struct slice){ NULL, 0 };
    k->dotenv_loaded = false;
    pthread_mutex_unlock(&k->lock);
    entries_free(k, old);
    return ALLM_OK;
}

allm_status allm_keys_configure(allm_keys *k, const allm_json *config)
{
    struct entry *replacement;
    bool fits;
    allm_status status = check_usable(k, "any", "");
    if (status != ALLM_OK)
        return status;
    if (!read_config(k, config, &replacement, &fits))
        return fits ? ALLM_ERR_NOMEM : ALLM_ERR_MISUSE;
    pthread_mutex_lock(&k->lock);
    struct entry *old = k->config;
    k->config = replacement;
    pthread_mutex_unlock(&k->lock);
    entries_free(k, old);
    return ALLM_OK;
}

/* The text that allm_keys_get() returns, and its bytes. */
struct found_key {
    allm_text *text;
    struct slice bytes;
};

static bool take_bytes(void *to, struct slice value)
{
    struct found_key *a = to;
    a->bytes = (struct slice){ arena_copy(text_arena(a->text), value),
                               value.len };
    return a->bytes.ptr != NULL;
}

allm_text *allm_keys_get(const allm_keys *k, const char *provider,
                         const char *call_key, const char **source)
{
    struct search s = { .keys = unconst(k),
                        .provider = provider,
                        .call_key = call_key };
    struct found_key a = {
        k ? text_begin(secret_mem(&unconst(k)->mem), 512) : NULL, { NULL, 0 }
    };
    if (source)
        *source = NULL;
    if (!a.text)
        return NULL;
    s.errors = text_arena(a.text);
    const allm_error *error = find_key(&s, take_bytes, &a);
    if (error)
        return text_fail(a.text, error);
    if (source)
        *source = s.source;
    return text_finish(a.text, a.bytes);
}

allm_text *allm_keys_variable(const char *provider)
{
    allm_text *t = text_begin(mem_default(), 256);
    if (!t)
        return NULL;
    struct search s = { .provider = provider, .errors = text_arena(t) };
    const allm_error *error = prepare_search(&s);
    return error ? text_fail(t, error)
                 : text_finish(t, slice_of(s.variable[0]));
}
