/* config.c - the settings of all files and variables, and where each is from */
#include "conf/config.h"

#include "conf/expand.h"
#include "conf/file.h"
#include "conf/member.h"
#include "conf/reader.h"
#include "conf/trusted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tell(struct config *c, const struct notice *notice)
{
    c->broken |= notice->fatal;
    c->report(c->ud, notice);
}

/* Put a layer on top of those before it. */
static void merge_layer(struct config *c, const struct config_layer *l)
{
    allm_json *all = allm_json_patch(c->value, l->value);
    allm_json_free(c->value);
    c->value = all;
}

/* ------------------------------------------------------------- files --- */

static void tell_unreadable(struct config *c, const char *path, int error,
                            bool fatal)
{
    char text[256];
    snprintf(text, sizeof text, "cannot be read: %s", file_says(error));
    struct notice n = { fatal, path, 0, text, NULL };
    tell(c, &n);
}

/* The layer does not count; the next one takes its place. */
static void drop_layer(struct config_layer *l)
{
    bytes_release(&l->text);
    *l = (struct config_layer){ .value = NULL };
}

/* Open the next layer and load its text; NULL: there is no such file, or it
 * cannot be read. */
static struct config_layer *load_text(struct config *c, const char *path,
                                      bool needed, unsigned flags)
{
    struct config_layer *l = &c->layers[c->count];
    int error = file_load(path, flags, &l->text);
    bool missing = error == ENOENT || error == ENOTDIR;
    if (!error && snprintf(l->name, sizeof l->name, "%s", path) < PLACES_PATH)
        return l;
    drop_layer(l);
    if (!missing || needed)
        tell_unreadable(c, path, error, !(flags & FILE_NO_LINKS));
    return NULL;
}

static void load_file(struct config *c, struct reader *r, const char *path,
                      bool needed)
{
    struct config_layer *l = load_text(c, path, needed, 0);
    if (!l)
        return;
    r->file = path;
    r->keys = true;
    r->soft = false;
    reader_skip_mark(&l->text);
    l->value = reader_parse(r, &l->text);
    if (l->value)
        l->value = reader_settle(r, &l->text, l->value);
    if (!l->value) {
        drop_layer(l);
        return;
    }
    c->count++;
    merge_layer(c, l);
}

/* A project cannot use the keys of a file that is read after its own. */
static void note_keys(const char *path)
{
    struct bytes text = { NULL, 0, 0 };
    if (!file_load(path, 0, &text)) {
        reader_skip_mark(&text);
        reader_note_keys(&text);
    }
    bytes_release(&text);
}

/* ----------------------------------------------------------- project --- */

/* {"mcp": the servers}, or NULL if there are none. */
static allm_json *wrap_servers(const allm_json *servers)
{
    if (!servers)
        return NULL;
    allm_json_build *b = member_new_object();
    member_value(b, "mcp", servers);
    return member_done(b);
}

/* Is exactly this content trusted?  The byte order mark is part of it. */
static void check_trust(struct config *c, const char *path, struct bytes *text)
{
    c->project.trusted &= !*path || trusted_knows(path, text);
    reader_skip_mark(text);
}

/* The servers of .mcp.json; NULL: none. */
static allm_json *read_servers(struct config *c, struct reader *r)
{
    struct bytes text = { NULL, 0, 0 };
    int error = file_load(c->project.mcp_path, FILE_NO_LINKS, &text);
    if (error) {
        if (error != ENOENT)
            tell_unreadable(c, c->project.mcp_path, error, false);
        *c->project.mcp_path = '\0';
        return NULL;
    }
    check_trust(c, c->project.mcp_path, &text);
    allm_json *file = reader_parse(r, &text);
    allm_json *servers = wrap_servers(allm_json_get(file, "mcpServers"));
    allm_json_free(file);
    bytes_release(&text);
    return servers;
}

/* The project's own file over its .mcp.json; NULL: it cannot be used. */
static allm_json *read_project(struct config *c, struct reader *r,
                               struct config_layer *l)
{
    c->project.trusted = true;
    check_trust(c, c->project.path, &l->text);
    allm_json *value = reader_parse(r, &l->text);
    allm_json *servers = read_servers(c, r);
    if (value && servers) {
        allm_json *both = allm_json_patch(servers, value);
        allm_json_free(value);
        value = both;
    }
    allm_json_free(servers);
    return value;
}

static void tell_waiting(struct config *c, size_t waiting, size_t refused)
{
    char text[256];
    struct notice n = { false, NULL, 0, text, NULL };
    const char *s = waiting == 1 ? "" : "s";
    const char *file = c->layers[c->count].name;
    if (waiting)
        snprintf(text, sizeof text,
                 "%zu setting%s of %.150s wait%s for \"allm config trust\"",
                 waiting, s, file, waiting == 1 ? "s" : "");
    if (waiting)
        tell(c, &n);
    if (refused)
        snprintf(text, sizeof text,
                 "%.150s sets a key, tools.grant or a weaker sandbox, which "
                 "only your own file may do; that setting is ignored",
                 file);
    if (refused)
        tell(c, &n);
}

/* "./.allm.json" for the current directory. */
static void shorten_path(struct config *c)
{
    char here[PLACES_PATH];
    bool own = *c->project.path;
    if (places_is_here(c->project.folder))
        snprintf(here, sizeof here, own ? "./.allm.json" : "./.mcp.json");
    else
        snprintf(here, sizeof here, "%s",
                 own ? c->project.path : c->project.mcp_path);
    memcpy(c->layers[c->count].name, here, sizeof here);
}

/* What counts of the project's file; NULL: nothing. */
static allm_json *settle_project(struct config *c, struct reader *r,
                                 struct config_layer *l)
{
    size_t refused = 0;
    r->file = *c->project.path ? c->project.path : c->project.mcp_path;
    r->keys = false;
    r->soft = true;
    allm_json *all = read_project(c, r, l);
    allm_json *some = all ? trusted_part(all, c->value, c->project.trusted,
                                         &c->project.waiting, &refused)
                          : NULL;
    allm_json_free(all);
    if (some)
        some = reader_settle(r, &l->text, some);
    tell_waiting(c, c->project.waiting, refused);
    return some;
}

/* The nearest .allm.json with the .mcp.json next to it, else the nearest
 * .mcp.json. */
static bool find_project(struct config *c)
{
    if (!places_project(c->project.path, c->project.folder)) {
        *c->project.path = '\0';
        if (places_above(".mcp.json", c->project.mcp_path, c->project.folder))
            return true;
        *c->project.mcp_path = '\0';
        return false;
    }
    snprintf(c->project.mcp_path, PLACES_PATH, "%.*s/.mcp.json",
             PLACES_PATH - 20, c->project.folder);
    return true;
}

/* Open the layer of the project; NULL: its file cannot be read. */
static struct config_layer *open_project(struct config *c)
{
    if (*c->project.path)
        return load_text(c, c->project.path, true, FILE_NO_LINKS);
    struct config_layer *l = &c->layers[c->count];
    bytes_text(&l->text, "{}");
    return l;
}

static void load_project(struct config *c, struct reader *r)
{
    c->project.found = find_project(c);
    struct config_layer *l = c->project.found ? open_project(c) : NULL;
    if (!l)
        return;
    shorten_path(c);
    l->is_project = true;
    l->value = settle_project(c, r, l);
    if (l->value) {
        c->count++;
        merge_layer(c, l);
    } else {
        drop_layer(l);
    }
}

/* --------------------------------------------------------- variables --- */

static bool is_one_of(const char *words, const char *word)
{
    size_t n = strlen(word);
    const char *at = strstr(words, word);
    return n && at && (at == words || at[-1] == '|') &&
           (!at[n] || at[n] == '|');
}

/* The value of a variable as JSON: text, unless it is of the right kind. */
static allm_json *read_variable(const struct setting *s, const char *text)
{
    allm_json *value = NULL;
    if (s->kind == SETTING_BOOL && is_one_of("true|yes|on|1", text))
        return allm_json_parse("true", 4, NULL);
    if (s->kind == SETTING_BOOL && is_one_of("false|no|off|0", text))
        return allm_json_parse("false", 5, NULL);
    if (s->kind == SETTING_COUNT || s->kind == SETTING_NUMBER)
        value = allm_json_parse(text, strlen(text), NULL);
    if (value && !allm_json_error(value))
        return value;
    allm_json_free(value);
    return member_alone(text, strlen(text));
}

/* {"output": {"color": value}} */
static allm_json *wrap_variable(const struct setting *s, const allm_json *value)
{
    const char *dot = strchr(s->key, '.');
    allm_json_build *b = member_new_object();
    if (dot) {
        char group[64] = "";
        memcpy(group, s->key, (size_t)(dot - s->key));
        member_object(b, group);
    }
    member_value(b, dot ? dot + 1 : s->key, value);
    if (dot)
        allm_json_build_end(b);
    return member_done(b);
}

static void set_variable(struct config_layer *l, const struct setting *s,
                         const allm_json *value)
{
    allm_json *one = wrap_variable(s, value);
    allm_json *all = allm_json_patch(l->value, one);
    allm_json_free(l->value);
    allm_json_free(one);
    l->value = all;
}

static void load_variables(struct config *c, struct reader *r)
{
    struct config_layer *l = &c->layers[c->count++];
    l->value = allm_json_parse("{}", 2, NULL);
    for (size_t i = 0; setting_at(i); i++) {
        char name[64];
        const struct setting *s = setting_at(i);
        const char *text = setting_variable(s, name) ? getenv(name) : NULL;
        if (!text || !*text)
            continue;
        allm_json *value = read_variable(s, text);
        set_variable(l, s, value);
        allm_json_free(value);
    }
    r->file = NULL;
    r->soft = false;
    if (allm_json_count(l->value))
        reader_check(r, NULL, l->value);
    merge_layer(c, l);
}

/* -------------------------------------------------------- everything --- */

bool config_user_file(char path[PLACES_PATH])
{
    return places_find(PLACE_CONFIG, "config.json", path);
}

bool config_load(struct config *c, const char *file, notice_fn report, void *ud)
{
    char path[PLACES_PATH];
    const char *variable = getenv("ALLM_CONFIG");
    const char *last = file ? file : variable && *variable ? variable : NULL;
    struct reader r = { .report = report, .ud = ud };
    c->report = report;
    c->ud = ud;
    c->value = allm_json_parse("{}", 2, NULL);
    load_file(c, &r, "/etc/allm/config.json", false);
    if (config_user_file(path))
        load_file(c, &r, path, false);
    if (last)
        note_keys(last);
    load_project(c, &r);
    if (last)
        load_file(c, &r, last, true);
    load_variables(c, &r);
    c->broken |= r.failed;
    reader_release(&r);
    return !c->broken;
}

const allm_json *config_get(const struct config *c, const char *path)
{
    char pointer[PLACES_PATH];
    return setting_pointer(path, pointer, sizeof pointer)
               ? allm_json_pointer(c->value, pointer)
               : NULL;
}

const allm_json *config_of_project(const struct config *c, const char *path)
{
    char pointer[PLACES_PATH];
    for (size_t i = 0; i < c->count; i++)
        if (c->layers[i].is_project &&
            setting_pointer(path, pointer, sizeof pointer))
            return allm_json_pointer(c->layers[i].value, pointer);
    return NULL;
}

const struct config_layer *config_origin(const struct config *c,
                                         const char *path, size_t *line)
{
    char pointer[PLACES_PATH];
    *line = 0;
    if (!setting_pointer(path, pointer, sizeof pointer))
        return NULL;
    for (size_t i = c->count; i--;) {
        const struct config_layer *l = &c->layers[i];
        if (!allm_json_pointer(l->value, pointer))
            continue;
        *line = l->text.len ? reader_line(&l->text, pointer) : 0;
        return l;
    }
    return NULL;
}

bool config_check(const char *name, const struct bytes *text, notice_fn report,
                  void *ud)
{
    struct reader r = {
        .file = name, .keys = true, .report = report, .ud = ud
    };
    struct bytes plain = { NULL, 0, 0 };
    bytes_add(&plain, bytes_string(text), text->len);
    reader_skip_mark(&plain);
    allm_json *value = reader_parse(&r, &plain);
    if (value)
        value = reader_settle(&r, &plain, value);
    allm_json_free(value);
    bytes_release(&plain);
    reader_release(&r);
    return !r.failed;
}
