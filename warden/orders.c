/*
 * orders.c - the instructions of a warden: one line each
 *
 *      read PATH               may be read, with all that is below it
 *      exec PATH               may be read and executed
 *      write PATH              may be read, executed and changed
 *      private PATH            the same, for the tool's own directory
 *      net none|all|tcp PORT...
 *      env NAME=VALUE          the whole environment of the tool
 *      dir PATH                the working directory
 *      limit NAME NUMBER       cpu memory disk files procs linger
 *      wall NAME off|required  or "wall all off"
 *      terminal                the tool stays in the caller's process group
 *      --                      the end
 *
 * In a value, \n is a line feed and \\ a backslash.
 */
#include "orders.h"

#include <string.h>

const char *const wall_names[WALL_COUNT] = {
    "files",   "metadata", "net",    "signals", "processes", "privileges",
    "kernel",  "staying",  "amount", "mounts",  "pids",
};

static const char *const limit_names[LIMIT_COUNT] = { "cpu",   "memory",
                                                      "disk",  "files",
                                                      "procs", "linger" };

static const char *const access_names[] = { "read", "exec", "write",
                                            "private" };

void orders_init(struct orders *o)
{
    memset(o, 0, sizeof *o);
    for (int i = 0; i < LIMIT_COUNT; i++)
        o->limit[i] = LIMIT_NONE;
}

/* The index of a name; `count` if there is none. */
static size_t name_index(const char *const *names, size_t count,
                         const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name))
        i++;
    return i;
}

/* End the first word and return what follows it, which may be empty. */
static char *split_word(char *line)
{
    size_t len = strcspn(line, " ");
    char *next = line + len + (line[len] == ' ');
    line[len] = 0;
    return next;
}

/* Replace the escapes in place; false: another one than \n and \\. */
static bool unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        bool escaped = *text == '\\';
        text += escaped;
        if (escaped && *text != 'n' && *text != '\\')
            return false;
        *to++ = escaped && *text == 'n' ? '\n' : *text;
    }
    *to = 0;
    return true;
}

static bool read_number(const char *text, uint64_t most, uint64_t *out)
{
    *out = 0;
    bool good = *text != 0;
    for (; good && *text; text++) {
        good = *text >= '0' && *text <= '9' && *out <= most / 10;
        *out = *out * 10 + (uint64_t)(*text - '0');
    }
    return good && *out <= most;
}

static bool read_net(struct orders *o, char *value)
{
    char *ports = split_word(value);
    o->net = !strcmp(value, "tcp")   ? NET_TCP
             : !strcmp(value, "all") ? NET_ALL
                                     : NET_NONE;
    while (*ports) {
        char *next = split_word(ports);
        uint64_t port;
        if (o->net != NET_TCP || o->port_count == ORDERS_PORTS ||
            !read_number(ports, 65535, &port))
            return false;
        o->port[o->port_count++] = (uint16_t)port;
        ports = next;
    }
    return o->net != NET_NONE || !strcmp(value, "none");
}

static bool read_limit(struct orders *o, char *value)
{
    char *number = split_word(value);
    size_t i = name_index(limit_names, LIMIT_COUNT, value);
    return i < LIMIT_COUNT && read_number(number, INT64_MAX, &o->limit[i]);
}

static bool read_wall(struct orders *o, char *value)
{
    char *state = split_word(value);
    size_t i = name_index(wall_names, WALL_COUNT, value);
    bool off = !strcmp(state, "off"), all = off && !strcmp(value, "all");
    for (size_t k = 0; k < WALL_COUNT; k++)
        if (all || k == i)
            *(off ? &o->off[k] : &o->required[k]) = true;
    return all || (i < WALL_COUNT && (off || !strcmp(state, "required")));
}

static bool read_path(struct orders *o, enum access access, const char *path)
{
    if (*path != '/' || o->path_count == ORDERS_PATHS)
        return false;
    o->path[o->path_count] = path;
    o->access[o->path_count++] = access;
    return true;
}

static bool read_env(struct orders *o, char *value)
{
    if (*value == '=' || !strchr(value, '=') || o->env_count == ORDERS_ENV)
        return false;
    o->env[o->env_count++] = value;
    return true;
}

bool orders_line(struct orders *o, char *line, bool *done)
{
    *done = !strcmp(line, "--");
    char *value = split_word(line);
    size_t access = name_index(access_names, 4, line);
    if (*done || !unescape(value))
        return *done;
    if (access < 4)
        return read_path(o, (enum access)access, value);
    if (!strcmp(line, "env"))
        return read_env(o, value);
    if (!strcmp(line, "net"))
        return read_net(o, value);
    if (!strcmp(line, "limit"))
        return read_limit(o, value);
    if (!strcmp(line, "wall"))
        return read_wall(o, value);
    if (!strcmp(line, "terminal"))
        return o->terminal = true;
    o->dir = value;
    return !strcmp(line, "dir") && *value == '/';
}
