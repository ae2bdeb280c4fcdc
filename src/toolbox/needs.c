/*
 * needs.c - the declared reach of a tool
 *
 *      {"read": [PATH...], "write": [PATH...], "net": bool or [PORT...],
 *       "env": [NAME...], "procs": N, "memory": MiB, "seconds": N, "disk": MiB}
 */
#include "toolbox/needs.h"

#include "base/status.h"
#include "proc/orders.h"
#include "proc/reach.h"
#include "provider/registry.h"
#include "json/build.h"
#include "json/json.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MIB = 1024 * 1024 };

/* Numbers: the default is LIMIT, which may be absent. */
static const struct number {
    const char *name, *limit;
    uint64_t least, most, factor, standard;     /* 0: no limit */
} numbers[] = {
    { "procs", "procs", 1, 512, 1, 64 },
    { "memory", "memory", 1, UINT64_C(1) << 24, MIB, 0 },
    { "seconds", "cpu", 1, 86400, 1, 0 },
    { "disk", "disk", 1, UINT64_C(1) << 24, MIB, UINT64_C(64) * MIB },
};

enum { NUMBERS = sizeof numbers / sizeof *numbers, FILES_MOST = 256,
       LINGER_MS = 100, LIST_MOST = 200 };     /* a warden takes 512 paths */

static const allm_error *refuse_needs(struct arena *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static const allm_error *refuse_needs(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const allm_error *e = status_verror(a, ALLM_ERR_VALIDATION, "invalid_tool",
                                        format, args);
    va_end(args);
    return e;
}

/* Where paths begin, and which secrets the user's own list names. */
struct checking {
    struct arena *arena;
    const char *dir;
    const allm_json *grants;    /* or NULL */
};

/* A folder that contains a secret is never granted. */
static bool is_granted_path(const struct checking *c, const char *path,
                            const char *secret)
{
    const char *own = NULL;
    for (const allm_json *g = NULL; (g = allm_json_next(c->grants, g));) {
        const char *name = json_slice(g).ptr;
        if (name && (*name == '/' || *name == '~'))
            own = reach_resolve(c->arena, name, "/");
        if (own && !strcmp(own, path))
            return reach_contains(secret, path);
    }
    return false;
}

static bool is_granted_name(const struct checking *c, struct slice name)
{
    for (const allm_json *g = NULL; (g = allm_json_next(c->grants, g));)
        if (slice_eq(json_slice(g), name))
            return true;
    return false;
}

static const allm_error *check_path(const struct checking *c, const char *key,
                                    const char *text, const char *path)
{
    if (!path)
        return refuse_needs(c->arena,
                            "needs.%s: \"%.200s\" is not a path that "
                            "can be granted",
                            key, text);
    const char *secret = reach_forbidden(c->arena, path);
    if (secret && !is_granted_path(c, path, secret))
        return refuse_needs(c->arena,
                            "needs.%s: \"%.200s\" would give access to "
                            "%s, which no tool may access; name a "
                            "smaller folder, or name this path in tools.grant "
                            "of your own configuration",
                            key, text, secret);
    return NULL;
}

static const allm_error *check_list(const struct checking *c, const char *key,
                                    const allm_json *list, const char *what)
{
    if (!json_is_type(list, ALLM_JSON_ARRAY))
        return refuse_needs(c->arena, "needs.%s must be a list of %s", key,
                            what);
    if (allm_json_count(list) > LIST_MOST)
        return refuse_needs(c->arena, "needs.%s may have %d %s", key, LIST_MOST,
                            what);
    return NULL;
}

/* Their copy has no links: what was checked is what is granted. */
static const allm_error *take_paths(const struct checking *c, struct build *b,
                                    const char *key, const allm_json *list)
{
    const allm_error *error = check_list(c, key, list, "paths");
    if (error)
        return error;
    build_array(b);
    for (const allm_json *p = NULL; !error && (p = allm_json_next(list, p));) {
        struct slice text = json_slice(p);
        if (!text.len || memchr(text.ptr, 0, text.len))
            return refuse_needs(c->arena, "needs.%s must be a list of paths",
                                key);
        const char *path = reach_resolve(c->arena, text.ptr, c->dir);
        error = check_path(c, key, text.ptr, path);
        if (!error)
            build_text(b, slice_of(path));
    }
    build_end(b);
    return error;
}

static const allm_error *check_net(struct arena *a, const allm_json *net)
{
    if (json_is_type(net, ALLM_JSON_BOOL))
        return NULL;
    for (const allm_json *p = NULL; (p = allm_json_next(net, p));) {
        uint64_t port;
        if (!allm_json_uint64(p, &port) || !port || port > 65535)
            return refuse_needs(a, "needs.net: a port is a number from 1 to "
                                   "65535");
    }
    if (!json_is_type(net, ALLM_JSON_ARRAY) || allm_json_count(net) > 64)
        return refuse_needs(a, "needs.net must be true, false, or a list of "
                               "at most 64 TCP ports");
    return NULL;
}

/* Is this the variable of a provider's key? */
static bool is_key_variable(const char *variable)
{
    const struct registry_row *row;
    struct slice name = slice_of(variable);
    for (size_t i = 0; (row = registry_at(i)); i++)
        if (row->key_env && slice_is(name, row->key_env))
            return true;
    return slice_ends(name, SLICE("_API_KEY"));
}

/* Letters, digits and _: a rule can name it, and no pattern. */
static bool is_variable(struct slice name)
{
    size_t n = 0;
    while (n < name.len && (name.ptr[n] == '_' || slice_alnum(name.ptr[n])))
        n++;
    return n && n == name.len;
}

/* Each process gets its own value. */
static bool is_private(struct slice name)
{
    static const char *const names[] = { "HOME", "TMPDIR", "TERM", "ALLM_TOOL",
                                         "ALLM_CALL_ID", "ALLM_SESSION",
                                         "ALLM_IDEMPOTENCY_KEY", NULL };
    return slice_in(name, names);
}

static const allm_error *check_env(const struct checking *c,
                                   const allm_json *list)
{
    struct arena *a = c->arena;
    const allm_error *error = check_list(c, "env", list, "names");
    if (error)
        return error;
    for (const allm_json *p = NULL; (p = allm_json_next(list, p));) {
        struct slice name = json_slice(p);
        if (!is_variable(name))
            return refuse_needs(a, "needs.env must be a list of names");
        if (is_private(name))
            return refuse_needs(a,
                                "needs.env: every process gets a %s of its "
                                "own; leave it out",
                                name.ptr);
        if (is_key_variable(name.ptr) && !is_granted_name(c, name))
            return refuse_needs(a,
                                "needs.env: %.200s is the key of a "
                                "provider, which no tool gets unless "
                                "tools.grant of your own configuration names "
                                "it",
                                name.ptr);
    }
    return NULL;
}

static const struct number *find_number(struct slice name)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (slice_is(name, numbers[i].name))
            return &numbers[i];
    return NULL;
}

static const allm_error *check_number(struct arena *a, const struct number *row,
                                      const allm_json *value)
{
    uint64_t n;
    if (allm_json_uint64(value, &n) && n >= row->least && n <= row->most)
        return NULL;
    return refuse_needs(a, "needs.%s must be a number from %llu to %llu",
                        row->name, (unsigned long long)row->least,
                        (unsigned long long)row->most);
}

static const allm_error *check_member(const struct checking *c,
                                      struct slice name, const allm_json *value)
{
    const struct number *row = find_number(name);
    if (row)
        return check_number(c->arena, row, value);
    if (slice_is(name, "net"))
        return check_net(c->arena, value);
    if (slice_is(name, "env"))
        return check_env(c, value);
    return refuse_needs(c->arena,
                        "needs.%.100s is not known, so it cannot be "
                        "granted; known are read, write, net, env, procs, "
                        "memory, seconds and disk",
                        name.ptr);
}

const allm_error *needs_check(struct arena *a, const allm_json **needs,
                              const char *dir, const allm_json *grants)
{
    const struct checking c = { a, dir, grants };
    const allm_error *error = NULL;
    if (!*needs)
        return NULL;
    if (!json_is_type(*needs, ALLM_JSON_OBJECT))
        return refuse_needs(a, "needs must be an object");
    struct build b = build_object_in(a);
    for (const allm_json *k = NULL;
         !error && (k = allm_json_next(*needs, k));) {
        struct slice name = json_slice(k);
        build_key(&b, name);
        if (slice_is(name, "read") || slice_is(name, "write")) {
            error = take_paths(&c, &b, name.ptr, allm_json_value(k));
        } else {
            error = check_member(&c, name, allm_json_value(k));
            build_value(&b, allm_json_value(k));
        }
    }
    build_end(&b);
    if (error)
        return error;
    *needs = build_done(&b);
    return *needs && !a->broken ? NULL : status_nomem();
}

/* The first one that is, or is below, a link now; NULL: none. */
static const char *add_paths(struct buf *out, const char *verb,
                             const allm_json *list)
{
    for (const allm_json *p = NULL; (p = allm_json_next(list, p));) {
        struct slice path = json_slice(p);
        const char *now = reach_resolve(out->arena, path.ptr, "/");
        if (!now || !slice_is(path, now))
            return path.ptr;
        orders_add(out, verb, path.ptr);
    }
    return NULL;
}

static void add_net(struct buf *out, const allm_json *net)
{
    if (!json_is_type(net, ALLM_JSON_ARRAY)) {
        orders_add(out, "net", allm_json_true(net) ? "all" : "none");
        return;
    }
    buf_text(out, "net tcp");
    for (const allm_json *p = NULL; (p = allm_json_next(net, p));) {
        uint64_t port = 0;
        allm_json_uint64(p, &port);
        buf_format(out, " %u", (unsigned)port);
    }
    buf_text(out, "\n");
    if (allm_json_count(net))
        orders_env(out, "RES_OPTIONS", "use-vc");   /* names by TCP */
}

static void add_env(struct buf *out, const allm_json *list)
{
    for (const allm_json *p = NULL; (p = allm_json_next(list, p));) {
        const char *value = getenv(json_slice(p).ptr);
        if (value)
            orders_env(out, json_slice(p).ptr, value);
    }
}

const char *needs_orders(struct buf *out, const allm_json *needs,
                         uint64_t cpu_s)
{
    const char *moved = add_paths(out, "exec", json_at(needs, "read"));
    if (!moved)
        moved = add_paths(out, "write", json_at(needs, "write"));
    add_net(out, json_at(needs, "net"));
    add_env(out, json_at(needs, "env"));
    for (size_t i = 0; i < NUMBERS; i++) {
        uint64_t n = numbers[i].standard;
        if (slice_is(slice_of(numbers[i].limit), "cpu"))
            n = cpu_s;
        if (allm_json_uint64(json_at(needs, numbers[i].name), &n))
            n *= numbers[i].factor;
        if (n)
            orders_limit(out, numbers[i].limit, n);
    }
    orders_limit(out, "files", FILES_MOST);
    orders_limit(out, "linger", LINGER_MS);
    return moved;
}

static void add_words(struct build *b, const char *verb, const allm_json *list)
{
    for (const allm_json *p = NULL; (p = allm_json_next(list, p));) {
        struct buf word = buf_in(b->arena, PATH_MAX + 16);
        buf_text(&word, verb);
        buf_add(&word, json_slice(p));
        build_text(b, buf_slice(&word));
    }
}

static void add_net_words(struct build *b, const allm_json *net)
{
    if (allm_json_true(net))
        build_text(b, SLICE("net"));
    for (const allm_json *p = NULL; (p = allm_json_next(net, p));) {
        uint64_t port = 0;
        allm_json_uint64(p, &port);
        struct buf word = buf_in(b->arena, 32);
        buf_format(&word, "net %u", (unsigned)port);
        build_text(b, buf_slice(&word));
    }
}

const allm_json *needs_words(struct arena *a, const allm_json *needs)
{
    struct build b = build_array_in(a);
    add_words(&b, "read ", json_at(needs, "read"));
    add_words(&b, "write ", json_at(needs, "write"));
    add_net_words(&b, json_at(needs, "net"));
    add_words(&b, "env ", json_at(needs, "env"));
    return build_finish(&b);
}
