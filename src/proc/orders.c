/* orders.c - write the instructions for a warden */
#include "proc/orders.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static void add_escaped(struct buf *out, const char *value)
{
    for (;;) {
        size_t n = strcspn(value, "\\\n");
        buf_add(out, (struct slice){ value, n });
        if (!value[n])
            return;
        buf_text(out, value[n] == '\n' ? "\\n" : "\\\\");
        value += n + 1;
    }
}

void orders_add(struct buf *out, const char *verb, const char *value)
{
    buf_text(out, verb);
    buf_byte(out, ' ');
    add_escaped(out, value);
    buf_byte(out, '\n');
}

void orders_env(struct buf *out, const char *name, const char *value)
{
    buf_text(out, "env ");
    add_escaped(out, name);
    buf_byte(out, '=');
    add_escaped(out, value);
    buf_byte(out, '\n');
}

/* All tasks of the machine: "0.10 0.20 0.30 2/345 6789"; 0: not known. */
static unsigned long long count_tasks(void)
{
    char text[128] = "";
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    const char *slash = n > 0 ? strchr(text, '/') : NULL;
    return slash ? strtoull(slash + 1, NULL, 10) : 0;
}

void orders_limit(struct buf *out, const char *name, uint64_t most)
{
    unsigned long long n = most;
    buf_format(out, "limit %s %llu\n", name, n);
    unsigned long long tasks = strcmp(name, "procs") ? 0 : count_tasks();
    if (tasks)
        buf_format(out, "limit tasks %llu\n", tasks + n);
}

struct slice orders_next_folder(const char **path)
{
    const char *at = *path;
    if (!at || !*at)
        return (struct slice){ NULL, 0 };
    size_t n = strcspn(at, ":");
    *path = at + n + (at[n] == ':');
    return (struct slice){ at, n };
}

const char *orders_home(char room[ORDERS_HOME])
{
    const char *home = getenv("HOME");
    struct passwd user, *found = NULL;
    if (home && *home == '/')
        return home;
    return getpwuid_r(geteuid(), &user, room, ORDERS_HOME, &found) || !found ||
                   *user.pw_dir != '/'
               ? NULL
               : user.pw_dir;
}

bool orders_in_home(struct slice folder)
{
    char room[ORDERS_HOME];
    const char *home = orders_home(room);
    size_t n = home ? strlen(home) : 0;
    while (n && home[n - 1] == '/')
        n--;
    return n && folder.len >= n && !memcmp(folder.ptr, home, n) &&
           (folder.len == n || folder.ptr[n] == '/');
}

/* PATH without the folders that the walls hide; odd names are left out, so
 * nothing needs to be escaped. */
static void add_path(struct buf *out)
{
    const char *path = getenv("PATH"), *separator = "env PATH=";
    for (struct slice f; (f = orders_next_folder(&path)).ptr;) {
        if (orders_in_home(f) || memchr(f.ptr, '\n', f.len) ||
            memchr(f.ptr, '\\', f.len))
            continue;
        buf_text(out, separator);
        buf_add(out, f);
        separator = ":";
    }
    if (*separator == ':')
        buf_byte(out, '\n');
}

void orders_environment(struct buf *out, enum orders_mode mode)
{
    static const char *const names[] = { "LANG",    "TZ",    "USER",
                                         "LOGNAME", "SHELL", NULL };
    const char *path = getenv("PATH");
    if (mode != ORDERS_OFF)
        add_path(out);
    else if (path)
        orders_env(out, "PATH", path);
    for (size_t i = 0; names[i]; i++) {
        const char *value = getenv(names[i]);
        if (value)
            orders_env(out, names[i], value);
    }
    for (char **at = environ; at && *at; at++)
        if (slice_starts(slice_of(*at), SLICE("LC_")) && strchr(*at, '='))
            orders_add(out, "env", *at);
    orders_env(out, "TERM", "dumb");
}

/* The parts without which nothing runs; `strict` adds others, and not the last,
 * without which the others are in force as well. */
void orders_walls(struct buf *out, enum orders_mode mode)
{
    static const char *const parts[] = {
        "files",   "net",       "privileges", "kernel", "staying", "metadata",
        "signals", "processes", "amount",     "mounts", "pids",
    };
    enum { NEEDED = 5, STRICT = 10, ALL = 11 };
    size_t count = mode == ORDERS_OFF      ? ALL
                   : mode == ORDERS_STRICT ? STRICT
                                           : NEEDED;
    const char *state = mode == ORDERS_OFF ? "off" : "required";
    for (size_t i = 0; i < count; i++)
        buf_format(out, "wall %s %s\n", parts[i], state);
}
