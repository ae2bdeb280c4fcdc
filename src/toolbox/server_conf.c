/* server_conf.c - the entry of an MCP server, as in an mcpServers file */
#include "toolbox/server_conf.h"

#include "base/status.h"
#include "proc/folder.h"
#include "proc/reach.h"
#include "toolbox/needs.h"
#include "json/json.h"
#include "json/write.h"

#include <stdlib.h>

enum { NAME_MOST = 64, SECONDS_MOST = 86400 };

struct reading_conf {
    struct server_conf *conf;
    struct arena *arena;
    const allm_json *entry, *grants;
    const allm_error *error;
};

static void refuse_entry(struct reading_conf *r, const char *member,
                         const char *want)
{
    if (!r->error)
        r->error = status_error(r->arena, ALLM_ERR_VALIDATION, "invalid_server",
                                "server %.64s: %s %s", r->conf->name, member,
                                want);
}

/* -------------------------------------------------------------- members --- */

static const char *read_text(struct reading_conf *r, const char *member)
{
    const allm_json *v = json_at(r->entry, member);
    struct slice s = json_slice(v);
    if (!v)
        return NULL;
    if (!s.len || memchr(s.ptr, 0, s.len)) {
        refuse_entry(r, member, "must be a text that is not empty");
        return NULL;
    }
    return s.ptr;
}

static bool is_text(const allm_json *v)
{
    struct slice s = json_slice(v);
    return s.ptr && !memchr(s.ptr, 0, s.len);
}

static const allm_json *read_texts(struct reading_conf *r, const char *member)
{
    const allm_json *list = json_at(r->entry, member), *v = NULL;
    bool good = !list || json_is_type(list, ALLM_JSON_ARRAY);
    while (good && list && (v = allm_json_next(list, v)))
        good = is_text(v);
    if (!good)
        refuse_entry(r, member, "must be an array of texts");
    return list;
}

/* Numbers and switches are variables, too; null leaves one out. */
static bool is_value(const allm_json *v)
{
    return json_slice(v).ptr ? is_text(v)
                             : !json_is_type(v, ALLM_JSON_ARRAY) &&
                                   !json_is_type(v, ALLM_JSON_OBJECT);
}

static bool is_word(struct slice key)
{
    return key.len && !memchr(key.ptr, 0, key.len) &&
           !memchr(key.ptr, '=', key.len) && !memchr(key.ptr, ':', key.len);
}

static const allm_json *read_map(struct reading_conf *r, const char *member)
{
    const allm_json *map = json_at(r->entry, member), *key = NULL;
    bool good = !map || json_is_type(map, ALLM_JSON_OBJECT);
    while (good && map && (key = allm_json_next(map, key)))
        good = is_word(json_slice(key)) && is_value(allm_json_value(key));
    if (!good)
        refuse_entry(r, member, "must be an object of names and texts");
    return map;
}

static bool read_switch(struct reading_conf *r, const char *member)
{
    const allm_json *v = json_at(r->entry, member);
    if (v && allm_json_type_of(v) != ALLM_JSON_BOOL)
        refuse_entry(r, member, "must be true or false");
    return allm_json_true(v);
}

static uint32_t read_seconds(struct reading_conf *r, const char *member,
                             uint32_t standard_ms)
{
    double seconds = standard_ms / 1000.0;
    const allm_json *v = json_at(r->entry, member);
    if (v && (!json_finite(v, &seconds) || seconds < 0.1 ||
              seconds > SECONDS_MOST)) {
        refuse_entry(r, member, "must be a number of seconds, 0.1 to 86400");
        return standard_ms;
    }
    return (uint32_t)(seconds * 1000.0);
}

static const allm_json *read_object(struct reading_conf *r, const char *member)
{
    const allm_json *v = json_at(r->entry, member);
    if (v && !json_is_type(v, ALLM_JSON_OBJECT))
        refuse_entry(r, member, "must be an object");
    return v;
}

/* ---------------------------------------------------------------- entry --- */

static void check_sandbox(struct reading_conf *r)
{
    const allm_error *why = needs_check(r->arena, &r->conf->sandbox,
                                        r->conf->dir, r->grants);
    if (why && why->kind == ALLM_ERR_NOMEM)
        r->error = why;
    else if (why)
        refuse_entry(r, "sandbox:", why->message);
}

static void read_process(struct reading_conf *r, const char *root)
{
    struct server_conf *c = r->conf;
    const char *cwd = read_text(r, "cwd");
    c->args = read_texts(r, "args");
    c->env = read_map(r, "env");
    c->sandbox = read_object(r, "sandbox");
    c->dir = cwd ? reach_resolve(r->arena, cwd, root) : root;
    if (!c->dir)
        refuse_entry(r, "cwd", "is not a folder");
    else if (!r->error && c->sandbox)
        check_sandbox(r);
}

static void read_address(struct reading_conf *r)
{
    struct server_conf *c = r->conf;
    struct slice url = slice_of(c->url);
    c->headers = read_map(r, "headers");
    c->auth = read_text(r, "auth");
    if (!slice_starts(url, SLICE("http://")) &&
        !slice_starts(url, SLICE("https://")))
        refuse_entry(r, "url", "must begin with http:// or https://");
    if (c->auth && strncmp(c->auth, "env:", 4) != 0 &&
        strncmp(c->auth, "file:", 5) != 0 && strncmp(c->auth, "cmd:", 4) != 0)
        refuse_entry(r, "auth", "must be env:NAME, file:PATH or cmd:COMMAND");
}

/* "type" is needed for nothing, but must not contradict. */
static void read_kind(struct reading_conf *r)
{
    static const char *const http[] = { "http", "streamable-http", "sse",
                                        "streamableHttp", NULL };
    struct server_conf *c = r->conf;
    const char *type = read_text(r, "type");
    bool is_http = slice_in(slice_of(type), http);
    c->command = read_text(r, "command");
    c->url = read_text(r, "url");
    if (type && !is_http && strcmp(type, "stdio") != 0)
        refuse_entry(r, "type", "must be stdio or http");
    else if (!c->command == !c->url || (type && is_http != !!c->url))
        refuse_entry(r, "must have", "either \"command\" or \"url\"");
}

static void read_common(struct reading_conf *r)
{
    struct server_conf *c = r->conf;
    const allm_json *compact = json_at(r->entry, "compact");
    c->filter = read_texts(r, "tools");
    c->manifest = read_object(r, "manifest");
    c->trust = read_switch(r, "trust");
    c->disabled = read_switch(r, "disabled");
    c->required = read_switch(r, "required");
    c->compact = !compact                    ? SERVER_COMPACT_AUTO
                 : read_switch(r, "compact") ? SERVER_COMPACT_ON
                                             : SERVER_COMPACT_OFF;
    c->timeout_ms = read_seconds(r, "timeout", SERVER_TIMEOUT_MS);
    c->start_ms = read_seconds(r, "start_timeout", SERVER_START_MS);
}

static bool is_server_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            return false;
    return name.len && name.len <= NAME_MOST;
}

const allm_error *server_conf_read(struct server_conf *c,
                                   struct allm_home *home, const char *name,
                                   const allm_json *entry, const char *root,
                                   const allm_json *grants)
{
    struct arena *a = home_arena(home);
    struct reading_conf r = { .conf = c, .arena = a,
                              .entry = json_copy(a, entry),
                              .grants = grants };
    *c = (struct server_conf){ .name = arena_text(a, name) };
    if (!r.entry || !c->name)
        return status_nomem();
    if (!is_server_name(slice_of(c->name)))
        refuse_entry(&r, "its name", "must have 1 to 64 printable characters");
    if (!json_is_type(r.entry, ALLM_JSON_OBJECT))
        refuse_entry(&r, "its entry", "must be an object");
    else
        read_kind(&r);
    if (!r.error && c->command)
        read_process(&r, root);
    else if (!r.error)
        read_address(&r);
    if (!r.error)
        read_common(&r);
    return r.error;
}

/* -------------------------------------------------------------- process --- */

/* The program, with links as they are: a virtual environment of Python is
 * recognised by the link. */
static const char *find_command(const struct server_conf *c, struct arena *a)
{
    const char *home = getenv("HOME");
    bool at_home = !strncmp(c->command, "~/", 2) && home;
    if (!strchr(c->command, '/'))
        return jail_find(a, c->command, c->dir);
    struct buf path = buf_in(a, SIZE_MAX / 2);
    buf_text(&path, at_home ? home : *c->command == '/' ? "" : c->dir);
    buf_text(&path, at_home || *c->command == '/' ? "" : "/");
    buf_text(&path, c->command + at_home);
    return path.broken ? NULL : path.ptr;
}

static const char *const *make_argv(const struct server_conf *c,
                                    struct arena *a, const char *program)
{
    size_t n = 0;
    const allm_json *v = NULL;
    const char **argv =
        arena_alloc(a, (allm_json_count(c->args) + 2) * sizeof *argv);
    if (!argv)
        return NULL;
    argv[n++] = program;
    while (c->args && (v = allm_json_next(c->args, v)))
        argv[n++] = json_slice(v).ptr;
    argv[n] = NULL;
    return argv;
}

const char *server_conf_value(struct arena *a, const allm_json *v)
{
    if (json_slice(v).ptr || json_is_type(v, ALLM_JSON_NULL))
        return json_slice(v).ptr;
    struct buf text = buf_in(a, SIZE_MAX / 2);
    json_write(&text, v, 0);
    return text.broken ? NULL : buf_slice(&text).ptr;
}

static void add_variables(const struct server_conf *c, struct arena *a,
                          struct buf *orders)
{
    const allm_json *key = NULL;
    while (c->env && (key = allm_json_next(c->env, key))) {
        const char *value = server_conf_value(a, allm_json_value(key));
        if (value)
            orders_env(orders, json_slice(key).ptr, value);
    }
}

/* No walls around files and net; what guards the kernel stays.  The warden ends
 * processes that left the group, too. */
static void open_free(const struct server_conf *c, enum orders_mode mode,
                      struct arena *a, struct jail *j)
{
    static const char *const off[] = { "files",  "metadata", "net", "signals",
                                       "processes", "amount", "mounts",
                                       "pids", "staying" };
    static const char *const needed[] = { "privileges", "kernel" };
    buf_init(&j->orders, a, ORDERS_LIMIT);
    if (mode == ORDERS_OFF)
        orders_walls(&j->orders, mode);
    for (size_t i = 0; mode != ORDERS_OFF && i < sizeof off / sizeof *off; i++)
        buf_format(&j->orders, "wall %s off\n", off[i]);
    for (size_t i = 0; mode != ORDERS_OFF && i < 2; i++)
        buf_format(&j->orders, "wall %s required\n", needed[i]);
    orders_environment(&j->orders, ORDERS_OFF);
    orders_add(&j->orders, "dir", c->dir);
    if (getenv("HOME"))
        orders_env(&j->orders, "HOME", getenv("HOME"));
    if (getenv("TMPDIR"))
        orders_env(&j->orders, "TMPDIR", getenv("TMPDIR"));
}

static const allm_error *refuse_strict(const struct server_conf *c,
                                       struct arena *a)
{
    return status_error(a, ALLM_ERR_TOOL, "sandbox_unavailable",
                        "server %s has no sandbox, and the mode of the sandbox "
                        "is strict; add \"sandbox\": {} to its entry, with "
                        "what it needs",
                        c->name);
}

const allm_error *server_conf_jail(const struct server_conf *c,
                                   enum orders_mode mode, struct arena *a,
                                   struct jail *j, const char *const **argv)
{
    const char *program = find_command(c, a);
    const allm_error *why = NULL;
    *j = (struct jail){ .dir = c->dir, .needs = c->sandbox, .mode = mode,
                        .real_home = true };
    if (!program && !a->broken)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "there is no program \"%.400s\" in PATH; install "
                            "it, or write its path as \"command\" of server %s",
                            c->command, c->name);
    j->program = program;
    *argv = program ? make_argv(c, a, program) : NULL;
    if (!*argv)
        return status_nomem();
    if (c->sandbox)
        why = jail_open(j, a);
    else if (mode == ORDERS_STRICT)
        why = refuse_strict(c, a);
    else
        open_free(c, mode, a, j);
    if (why)
        return why;
    add_variables(c, a, &j->orders);
    return j->orders.broken || a->broken ? status_nomem() : NULL;
}
