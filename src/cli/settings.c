/* settings.c - the settings of the user, for the commands */
#include "cli/settings.h"

#include "cli/exit.h"
#include "cli/print.h"
#include "cli/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct config config;
static const char *own_file;
static bool loaded, usable;

/* Try a key, with the name of the path for a "*" in it. */
static void try_key(struct suggest *s, const char *key, const char *path)
{
    char filled[SUGGEST_LONGEST + 1];
    size_t n = strcspn(key, "*");
    if (key[n] && (!key[n + 1] || strncmp(key, path, n) != 0))
        return;
    size_t name = key[n] ? strcspn(path + n, ".") : 0;
    if ((size_t)snprintf(filled, sizeof filled, "%.*s%.*s%s", (int)n, key,
                         (int)name, path + (name ? n : 0),
                         key + n + (key[n] == '*')) < sizeof filled)
        suggest_try(s, filled);
}

const char *settings_hint(const char *path)
{
    static struct suggest s;
    char group[SUGGEST_LONGEST + 1];
    suggest_begin(&s, path);
    for (size_t i = 0; setting_at(i); i++) {
        const char *key = setting_at(i)->key;
        try_key(&s, key, path);
        snprintf(group, sizeof group, "%.*s", (int)strcspn(key, "."), key);
        if (!strchr(path, '.'))
            suggest_try(&s, group);
    }
    return suggest_hint(&s);
}

void settings_print(const struct notice *n, const char *hint)
{
    char place[PLACES_PATH + 32] = "";
    if (n->origin && n->line)
        snprintf(place, sizeof place, "%s:%zu: ", n->origin, n->line);
    else if (n->origin)
        snprintf(place, sizeof place, "%s: ", n->origin);
    if (n->fatal)
        print_fault("%.600s%s", place, n->text);
    else
        print_note("%.600s%s%s", place, n->text, hint);
}

void settings_notice(void *ud, const struct notice *n)
{
    (void)ud;
    settings_print(n, n->unknown ? settings_hint(n->unknown) : "");
}

void settings_use(const char *file)
{
    own_file = file;
}

static void load_once(void)
{
    if (loaded)
        return;
    loaded = true;
    usable = config_load(&config, own_file, settings_notice, NULL);
}

int settings_open(void)
{
    load_once();
    return usable ? END_DONE : END_USAGE;
}

const struct config *settings_config(void)
{
    load_once();
    return &config;
}

const allm_json *settings_value(const char *path)
{
    load_once();
    return config_get(&config, path);
}

const char *settings_text(const char *path)
{
    const char *text = allm_json_text(settings_value(path), NULL);
    return text && *text ? text : NULL;
}

bool settings_true(const char *path, bool standard)
{
    const allm_json *value = settings_value(path);
    return value ? allm_json_true(value) : standard;
}

double settings_number(const char *path, double standard)
{
    const allm_json *value = settings_value(path);
    return value ? allm_json_number(value) : standard;
}

uint32_t settings_count(const char *path, uint32_t standard)
{
    double n = settings_number(path, standard);
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

uint32_t settings_ms(const char *path, uint32_t standard)
{
    const allm_json *value = settings_value(path);
    const char *text = allm_json_text(value, NULL);
    char *unit = NULL;
    if (!value)
        return standard;
    double seconds = text ? strtod(text, &unit) : allm_json_number(value);
    seconds *= unit && *unit == 'm' ? 60 : unit && *unit == 'h' ? 3600 : 1;
    return seconds < 4000000 ? (uint32_t)(seconds * 1000 + 0.5) : UINT32_MAX;
}

bool settings_path(const char *setting, const char *word,
                   char path[PLACES_PATH])
{
    size_t line;
    const char *base = NULL, *home = getenv("HOME");
    load_once();
    const struct config_layer *l = config_origin(&config, setting, &line);
    if (*word == '~' && (!word[1] || word[1] == '/') && home) {
        base = home;
        word += word[1] ? 2 : 1;
    } else if (*word != '/' && l && l->is_project) {
        base = config.project.folder;
    }
    return snprintf(path, PLACES_PATH, "%s%s%s", base ? base : "",
                    base ? "/" : "", word) < PLACES_PATH;
}
