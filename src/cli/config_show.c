/* config_show.c - allm config show: every setting and where it is set */
#include "cli/config_parts.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "conf/keyring.h"
#include "conf/member.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------ secrets --- */

void config_mask_address(const char *text, struct bytes *out)
{
    const char *scheme = strstr(text, "://");
    const char *host = scheme ? scheme + 3 : text, *end;
    end = host + strcspn(host, "/?#");
    bytes_add(out, text, (size_t)(host - text));
    for (const char *at = host; scheme && at < end; at++)
        if (*at == '@')
            host = at;
    bytes_text(out, host < end && *host == '@' ? "***" : "");
    bytes_add(out, host, strcspn(host, "?#"));
}

static void put_address(allm_json_build *b, const char *text)
{
    struct bytes shown = { NULL, 0, 0 };
    config_mask_address(text, &shown);
    allm_json_build_text(b, bytes_string(&shown), shown.len);
    bytes_release(&shown);
}

/* A reference to a key is no secret: env:NAME, file:PATH. */
static bool is_reference(const char *text)
{
    return keyring_is_reference(text) && !keyring_looks_secret(text);
}

static void put_masked(allm_json_build *b, const char *key,
                       const allm_json *value)
{
    const char *text = allm_json_text(value, NULL);
    allm_json_type type = allm_json_type_of(value);
    if (text && (strstr(text, "://") || is_reference(text))) {
        put_address(b, text);
    } else if (text && strcmp(key, "command") != 0 &&
               strcmp(key, "type") != 0 && strcmp(key, "store") != 0) {
        allm_json_build_text(b, "***", 3);
    } else if (type == ALLM_JSON_OBJECT) {
        allm_json_build_object(b);
        for (const allm_json *k = NULL; (k = allm_json_next(value, k));) {
            allm_json_build_key(b, allm_json_text(k, NULL));
            put_masked(b, allm_json_text(k, NULL), allm_json_value(k));
        }
        allm_json_build_end(b);
    } else if (type == ALLM_JSON_ARRAY) {
        allm_json_build_array(b);
        for (const allm_json *v = NULL; (v = allm_json_next(value, v));)
            put_masked(b, key, v);
        allm_json_build_end(b);
    } else {
        allm_json_build_value(b, value);
    }
}

/* The value, with *** in members that are secret by their name. */
static void put_open(allm_json_build *b, const allm_json *value)
{
    if (allm_json_type_of(value) != ALLM_JSON_OBJECT) {
        allm_json_build_value(b, value);
        return;
    }
    allm_json_build_object(b);
    for (const allm_json *k = NULL; (k = allm_json_next(value, k));) {
        const char *key = allm_json_text(k, NULL);
        const allm_json *member = allm_json_value(k);
        allm_json_build_key(b, key);
        if (keyring_names_secret(key, strlen(key)) &&
            strcmp(key, "max_tokens") != 0)
            put_masked(b, key, member);
        else
            put_open(b, member);
    }
    allm_json_build_end(b);
}

static allm_json *mask_setting(void *ud, const char *path,
                               const struct setting *s, const allm_json *value)
{
    allm_json_build *b = allm_json_build_new(NULL);
    (void)ud;
    const char *dot = strrchr(path, '.');
    if (!s || s->secret)
        put_masked(b, dot ? dot + 1 : path, value);
    else
        put_open(b, value);
    return allm_json_build_done(b);
}

allm_json *config_mask(const char *path, const allm_json *value)
{
    const struct setting *s = setting_find(path);
    if (s)
        return mask_setting(NULL, path, s, value);
    /* a group: as it is below its names */
    allm_json *all = setting_map(settings_config()->value, mask_setting, NULL);
    char pointer[1024];
    allm_json *part = setting_pointer(path, pointer, sizeof pointer)
                          ? allm_json_copy(allm_json_pointer(all, pointer))
                          : NULL;
    allm_json_free(all);
    return part;
}

/* --------------------------------------------------------------- show --- */

static void describe_origin(const char *path, char *out, size_t size)
{
    size_t line;
    char variable[64];
    const struct setting *s = setting_find(path);
    const struct config_layer *l = config_origin(settings_config(), path,
                                                 &line);
    if (!l)
        snprintf(out, size, "default");
    else if (!*l->name)
        snprintf(out, size, "%s",
                 s && setting_variable(s, variable) ? variable : "variable");
    else if (line)
        snprintf(out, size, "%s:%zu", l->name, line);
    else
        snprintf(out, size, "%s", l->name);
}

static void print_row(const char *path, const char *value, bool origin)
{
    char from[PLACES_PATH + 32];
    describe_origin(path, from, sizeof from);
    if (origin)
        print_format("%-22s %-40s %s\n", path, value, from);
    else
        print_format("%-22s %s\n", path, value);
}

static allm_json *print_setting(void *ud, const char *path,
                                const struct setting *s, const allm_json *value)
{
    allm_json *shown = mask_setting(NULL, path, s, value);
    allm_text *text = allm_json_write(shown, 0);
    const char *plain = allm_json_text(shown, NULL);
    if (strcmp(path, "$schema") != 0)
        print_row(path, plain ? plain : allm_text_bytes(text, NULL),
                  *(bool *)ud);
    allm_text_free(text);
    allm_json_free(shown);
    return NULL;
}

static void put_row(allm_json_build *b, const char *path,
                    const allm_json *value)
{
    char from[PLACES_PATH + 32];
    describe_origin(path, from, sizeof from);
    allm_json_build_object(b);
    member_text(b, "key", path);
    member_value(b, "value", value);
    member_text(b, "origin", from);
    allm_json_build_end(b);
}

static allm_json *put_setting(void *ud, const char *path,
                              const struct setting *s, const allm_json *value)
{
    allm_json *shown = mask_setting(NULL, path, s, value);
    put_row(ud, path, shown);
    allm_json_free(shown);
    return NULL;
}

static void show_json(const struct config *c)
{
    allm_json_build *b = member_new_array();
    allm_json_free(setting_map(c->value, put_setting, b));
    allm_json *rows = member_done(b);
    print_json(rows, ALLM_JSON_PRETTY);
    allm_json_free(rows);
}

int config_show(const struct config_flags *f)
{
    const struct config *c = settings_config();
    bool origin = f->origin;
    if (f->json) {
        show_json(c);
        return END_DONE;
    }
    allm_json_free(setting_map(c->value, print_setting, &origin));
    for (size_t i = 0; setting_at(i); i++) {
        const struct setting *s = setting_at(i);
        if (s->standard && !strchr(s->key, '*') && !config_get(c, s->key))
            print_row(s->key, s->standard, origin);
    }
    return END_DONE;
}
