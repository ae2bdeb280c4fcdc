/*
 * trusted.c - what a project's file may do, before and after trust
 *
 * A setting counts only if its row says so: what has no row, and every new row,
 * waits.
 */
#include "conf/trusted.h"

#include "conf/expand.h"
#include "conf/file.h"
#include "conf/member.h"
#include "conf/places.h"
#include "conf/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------- the list --- */

/* STATE/trusted, which the caller frees; NULL: there is none. */
static allm_json *load_list(char path[PLACES_PATH])
{
    struct bytes text = { NULL, 0, 0 };
    allm_json *list = NULL;
    if (!places_find(PLACE_STATE, "trusted", path))
        *path = '\0';
    else if (!file_load(path, 0, &text))
        list = allm_json_parse(bytes_string(&text), text.len, NULL);
    bytes_release(&text);
    return list;
}

bool trusted_knows(const char *path, const struct bytes *content)
{
    char file[PLACES_PATH], hex[65];
    allm_json *list = load_list(file);
    const char *known = member_read(list, path);
    allm_sha256(content->ptr, content->len, hex);
    bool same = known && !strcmp(known, hex);
    allm_json_free(list);
    return same;
}

/* The digest as a JSON string; NULL: no content. */
static allm_json *digest_of(const struct bytes *content)
{
    char hex[67] = "\"";
    if (!content)
        return NULL;
    allm_sha256(content->ptr, content->len, hex + 1);
    hex[65] = '"';
    return allm_json_parse(hex, 66, NULL);
}

int trusted_set(const char *path, const struct bytes *content)
{
    char file[PLACES_PATH];
    int lock = places_find(PLACE_STATE, "trusted", file)
                   ? file_lock(file, content != NULL)
                   : -1;
    allm_json *list = load_list(file);
    if (!*file)
        return ENOENT;
    if (allm_json_type_of(list) != ALLM_JSON_OBJECT) {
        allm_json_free(list);
        list = allm_json_parse("{}", 2, NULL);
    }
    allm_json *digest = digest_of(content);
    allm_json *changed = allm_json_set(list, path, digest);
    int error = file_store_json(file, changed);
    if (lock >= 0)
        close(lock);
    allm_json_free(changed);
    allm_json_free(digest);
    allm_json_free(list);
    return error;
}

/* ---------------------------------------------------------- the part --- */

struct part {
    const allm_json *users;
    allm_json *known; /* the list of providers, once it is needed */
    bool trusted;
    size_t waiting, refused;
};

static bool is_provider(struct part *p, const char *name)
{
    bool known = allm_json_get(allm_json_get(p->users, "providers"), name);
    if (!p->known)
        p->known = allm_registry_list();
    for (const allm_json *row = NULL;
         !known && (row = allm_json_next(p->known, row));)
        known = !strcmp(member_read(row, "name"), name);
    return known;
}

/* A model of a provider that the user has, or a name without a provider. */
static bool is_known_model(struct part *p, const allm_json *value)
{
    char provider[128];
    const char *model = allm_json_text(value, NULL);
    if (!model)
        return false;
    if (allm_json_get(allm_json_get(p->users, "aliases"), model))
        return true;
    size_t n = strcspn(model, ":/");
    if (!model[n])
        return true;
    return (size_t)snprintf(provider, sizeof provider, "%.*s", (int)n, model) <
               sizeof provider &&
           is_provider(p, provider);
}

static bool are_known_models(struct part *p, const allm_json *value)
{
    bool known = true;
    if (allm_json_type_of(value) != ALLM_JSON_ARRAY)
        return is_known_model(p, value);
    for (const allm_json *v = NULL; known && (v = allm_json_next(value, v));)
        known = is_known_model(p, v);
    return known;
}

static bool is_users_template(const allm_json *value)
{
    char name[256], path[PLACES_PATH];
    struct stat about;
    const char *text = allm_json_text(value, NULL);
    return text && !strchr(text, '/') && *text != '.' &&
           (size_t)snprintf(name, sizeof name, "templates/%s.md", text) <
               sizeof name &&
           places_find(PLACE_CONFIG, name, path) && !stat(path, &about);
}

/* Parts of the names of options: those of addresses, and others that a project
 * may not set without trust, such as what takes the place of the prompt. */
static const char *const addresses[] = { "url",     "host",     "adapter",
                                         "proxy",   "address",  "endpoint",
                                         "server",  NULL };
static const char *const others[] = {
    "header",  "key",      "tool",  "file",     "path",
    "extra",   "context",  "model", "provider", "organization",
    "project", "metadata", "user",  "system",   "instruct",
    "prompt",  "message",  "input", "content",  NULL,
};

static bool has_part(const char *name, const char *const *parts)
{
    while (*parts && !strstr(name, *parts))
        parts++;
    return *parts;
}

bool trusted_sets_address(const allm_json *options)
{
    for (const allm_json *k = NULL; (k = allm_json_next(options, k));)
        if (has_part(allm_json_text(k, NULL), addresses))
            return true;
    return false;
}

/* An option that cannot name an address, a key or a file: a number, a bool or a
 * word, whose name does not suggest one. */
static bool is_harmless_option(const char *name, const allm_json *value)
{
    const char *text = allm_json_text(value, NULL);
    allm_json_type type = allm_json_type_of(value);
    if (type == ALLM_JSON_OBJECT || type == ALLM_JSON_ARRAY ||
        (text && strpbrk(text, ":/@$")))
        return false;
    return !has_part(name, addresses) && !has_part(name, others);
}

static bool are_harmless(const allm_json *options)
{
    if (allm_json_type_of(options) != ALLM_JSON_OBJECT)
        return false;
    for (const allm_json *k = NULL; (k = allm_json_next(options, k));)
        if (!is_harmless_option(allm_json_text(k, NULL), allm_json_value(k)))
            return false;
    return true;
}

/* Those of them that are harmless, or NULL. */
static allm_json *harmless_part(const allm_json *options)
{
    allm_json_build *b = NULL;
    if (expand_wanted(options))
        return NULL;
    for (const allm_json *k = NULL; (k = allm_json_next(options, k));) {
        const char *name = allm_json_text(k, NULL);
        if (name && is_harmless_option(name, allm_json_value(k))) {
            b = b ? b : member_new_object();
            member_value(b, name, allm_json_value(k));
        }
    }
    return b ? member_done(b) : NULL;
}

static bool counts_untrusted(struct part *p, const struct setting *s,
                             const allm_json *value)
{
    if (!s || expand_wanted(value))
        return false;
    switch (s->trust) {
    case TRUST_FREE:
        return true;
    case TRUST_MODEL:
        return are_known_models(p, value);
    case TRUST_TEMPLATE:
        return is_users_template(value);
    case TRUST_OPTIONS:
        return are_harmless(value);
    default:
        return false;
    }
}

/* Not even a trusted project sets a key, or weakens the user's sandbox. */
static bool is_refused(const struct setting *s, const allm_json *value)
{
    const char *text = allm_json_text(value, NULL);
    return s && (s->trust == TRUST_NEVER || (s->trust == TRUST_STRICT && text &&
                                             strcmp(text, "strict") != 0));
}

static allm_json *take_part(void *ud, const char *path, const struct setting *s,
                            const allm_json *value)
{
    struct part *p = ud;
    if (!strcmp(path, "$schema"))
        return NULL;
    if (p->trusted && is_refused(s, value)) {
        p->refused++;
        return NULL;
    }
    if (p->trusted || counts_untrusted(p, s, value))
        return allm_json_copy(value);
    p->waiting++;
    return s && s->trust == TRUST_OPTIONS ? harmless_part(value) : NULL;
}

allm_json *trusted_part(const allm_json *value, const allm_json *users,
                        bool trusted, size_t *waiting, size_t *refused)
{
    struct part p = { .users = users, .trusted = trusted };
    allm_json *some = setting_map(value, take_part, &p);
    allm_json_free(p.known);
    *waiting = p.waiting;
    *refused = p.refused;
    return some;
}
