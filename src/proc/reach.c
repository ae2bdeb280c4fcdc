/* reach.c - which files a process may access by default, and never */
#define _XOPEN_SOURCE 700 /* realpath */
#include "proc/reach.h"

#include "proc/orders.h"

#include <limits.h>
#include <stdlib.h>

/* To read and execute. */
static const char *const programs[] = {
    "/usr",   "/bin",    "/sbin", "/lib",       "/lib32",
    "/lib64", "/libx32", "/opt",  "/nix/store", NULL,
};

/* To read; a program cannot start without the first ones. */
static const char *const settings[] = {
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/alternatives",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/gitconfig",
    "/etc/mime.types",
    "/etc/os-release",
    "/proc",
    "/sys/devices/system/cpu",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    NULL,
};

/* Below the home, and never accessible. */
static const char *const secrets[] = {
    ".config/allm",
    ".local/share/allm",
    ".local/state/allm",
    ".cache/allm",
    ".ssh",
    ".gnupg",
    ".aws",
    ".config/gcloud",
    ".kube",
    ".netrc",
    ".docker",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".pki",
    ".password-store",
    NULL,
};

/* Where allm's own files are instead, if one of these is set. */
static const struct {
    const char *variable, *folder;
} places[] = {
    { "ALLM_HOME", "config" },     { "ALLM_HOME", "data" },
    { "ALLM_HOME", "state" },      { "ALLM_HOME", "cache" },
    { "XDG_CONFIG_HOME", "allm" }, { "XDG_DATA_HOME", "allm" },
    { "XDG_STATE_HOME", "allm" },  { "XDG_CACHE_HOME", "allm" },
};

enum { PLACES = sizeof places / sizeof *places,
       SECRETS = sizeof secrets / sizeof *secrets };

_Static_assert(PLACES + SECRETS < REACH_SECRETS, "room for all of them");

bool reach_contains(const char *outer, const char *inner)
{
    size_t n = strlen(outer);
    while (n && outer[n - 1] == '/')
        n--;
    return !strncmp(outer, inner, n) && (inner[n] == '/' || !inner[n]);
}

const char *const *reach_programs(void)
{
    return programs;
}

static bool meets_one(const char *const *list, const char *path)
{
    while (*list && !reach_contains(*list, path) &&
           !reach_contains(path, *list))
        list++;
    return *list;
}

bool reach_meets_default(const char *path)
{
    return meets_one(programs, path) || meets_one(settings, path);
}

/* The longest beginning of the path that exists, without links, and the rest as
 * it is.  The path is cut; NULL: the rest has "..". */
static const char *resolve_beginning(struct arena *a, char *path)
{
    char real[PATH_MAX];
    size_t end = strlen(path), whole = end;
    while (!realpath(end ? path : "/", real)) {
        while (end && path[end - 1] != '/')
            end--;
        if (!strcmp(path + end, ".."))
            return NULL;
        while (end && path[end - 1] == '/')
            path[--end] = 0;
    }
    struct buf out = buf_in(a, 2 * PATH_MAX);
    buf_text(&out, strcmp(real, "/") != 0 ? real : "");
    for (size_t i = end; i < whole; i += strlen(path + i) + 1) {
        if (path[i] && strcmp(path + i, ".") != 0) {
            buf_byte(&out, '/');
            buf_text(&out, path + i);
        }
    }
    if (!out.len)
        buf_byte(&out, '/');
    return out.broken ? NULL : out.ptr;
}

const char *reach_resolve(struct arena *a, const char *path, const char *dir)
{
    char room[ORDERS_HOME];
    const char *home = orders_home(room);
    bool at_home = *path == '~' && (path[1] == '/' || !path[1]);
    struct buf whole = buf_in(a, PATH_MAX - 1);
    if (*path != '/') {
        buf_text(&whole, at_home && home ? home : dir);
        buf_byte(&whole, '/');
    }
    buf_text(&whole, at_home ? path + 1 : path);
    return whole.broken ? NULL : resolve_beginning(a, whole.ptr);
}

static const char *join_resolved(struct arena *a, const char *folder,
                                 const char *name)
{
    struct buf path = buf_in(a, PATH_MAX - 1);
    buf_text(&path, folder);
    buf_byte(&path, '/');
    buf_text(&path, name);
    return path.broken ? NULL : reach_resolve(a, path.ptr, "/");
}

/* All of them, without links; one that is too long is left out. */
static void find_forbidden(struct reach_secrets *f, struct arena *a)
{
    char room[ORDERS_HOME];
    const char *home = orders_home(room), *path;
    f->count = 0;
    for (size_t i = 0; home && secrets[i]; i++)
        if ((path = join_resolved(a, home, secrets[i])))
            f->path[f->count++] = path;
    for (size_t i = 0; i < PLACES; i++) {
        const char *place = getenv(places[i].variable);
        if (place && *place == '/' &&
            (path = join_resolved(a, place, places[i].folder)))
            f->path[f->count++] = path;
    }
}

/* The one that is the resolved path, contains it or is in it; or NULL. */
static const char *touched(const struct reach_secrets *f, const char *resolved)
{
    for (size_t i = 0; i < f->count; i++)
        if (reach_contains(f->path[i], resolved) ||
            reach_contains(resolved, f->path[i]))
            return f->path[i];
    return NULL;
}

const char *reach_forbidden(struct arena *a, const char *resolved)
{
    struct reach_secrets f;
    find_forbidden(&f, a);
    return touched(&f, resolved);
}

void reach_find_secrets(struct reach_secrets *s, struct arena *a,
                        const char *folder)
{
    struct reach_secrets all;
    find_forbidden(&all, a);
    s->count = 0;
    for (size_t i = 0; i < all.count; i++)
        if (reach_contains(all.path[i], folder) ||
            reach_contains(folder, all.path[i]))
            s->path[s->count++] = all.path[i];
}

bool reach_is_secret(const struct reach_secrets *s, const char *resolved)
{
    for (size_t i = 0; i < s->count; i++)
        if (reach_contains(s->path[i], resolved))
            return true;
    return false;
}

/* Most folders of programs are below this one, which grants them, too. */
static bool is_in_usr(const struct reach_secrets *f, const char *resolved)
{
    return !strncmp(resolved, "/usr/", 5) && !touched(f, "/usr");
}

/* Unless it contains a path that is never accessible. */
static bool add_allowed(struct buf *out, const struct reach_secrets *f,
                        const char *verb, const char *path)
{
    const char *resolved = reach_resolve(out->arena, path, "/");
    bool allowed = resolved && !touched(f, resolved);
    if (allowed && !is_in_usr(f, resolved))
        orders_add(out, verb, resolved);
    return allowed;
}

/* The folders of PATH that are not below the home. */
static void add_path_folders(struct buf *out, const struct reach_secrets *f)
{
    const char *path = getenv("PATH");
    char folder[PATH_MAX];
    for (struct slice s; (s = orders_next_folder(&path)).ptr;) {
        if (!s.len || *s.ptr != '/' || s.len >= sizeof folder ||
            orders_in_home(s))
            continue;
        memcpy(folder, s.ptr, s.len);
        folder[s.len] = 0;
        add_allowed(out, f, "exec", folder);
    }
}

static void add_program(struct buf *out, const struct reach_secrets *f,
                        const char *program)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(program, '/');
    size_t n = slash ? (size_t)(slash - program) : 0;
    if (!n || n >= sizeof folder)
        return;
    memcpy(folder, program, n);
    folder[n] = 0;
    /* In a home only the program itself, not what is next to it. */
    if (!add_allowed(out, f, "exec", folder))
        orders_add(out, "exec", program);
}

static void add_least(struct buf *out, const struct reach_secrets *f,
                      const char *program)
{
    for (size_t i = 0; programs[i]; i++)
        add_allowed(out, f, "exec", programs[i]);
    for (size_t i = 0; settings[i]; i++)
        add_allowed(out, f, "read", settings[i]);
    orders_add(out, "private", "/dev/null");
    orders_add(out, "private", "/dev/full");
    add_path_folders(out, f);
    add_program(out, f, program);
}

void reach_least(struct buf *out, const char *program)
{
    struct reach_secrets f;
    find_forbidden(&f, out->arena);
    add_least(out, &f, program);
}

bool reach_default(struct buf *out, const char *program, const char *dir,
                   const char *private_dir)
{
    struct reach_secrets f;
    find_forbidden(&f, out->arena);
    add_least(out, &f, program);
    orders_add(out, "private", private_dir);
    const char *now = reach_resolve(out->arena, dir, "/");
    return now && !strcmp(now, dir) && add_allowed(out, &f, "read", dir);
}
