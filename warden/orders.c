/* orders.c - read the instructions of a warden; docs/sandbox.md lists them */
#include "orders.h"

#include <stdlib.h>
#include <string.h>

const char *const wall_names[] = {
    "files",   "metadata", "net",    "signals", "processes", "privileges",
    "kernel",  "staying",  "amount", "mounts",  "pids",      NULL,
};
const char *const limit_names[] = { "cpu",   "memory", "disk",   "files",
                                    "procs", "tasks",  "linger", NULL };
static const char *const access_names[] = { "read", "exec", "write", "private",
                                            NULL };
static const char *const net_names[] = { "none", "tcp", "all", NULL };
static const char *const state_names[] = { "off", "required", NULL };

/* The first word's index among the names, which end with NULL; false: it is
 * none of them.  *text becomes what follows it. */
static bool take_name(char **text, const char *const *names, int *index)
{
    char *word = *text;
    size_t len = strcspn(word, " ");
    *text += len + (word[len] == ' ');
    word[len] = 0;
    for (*index = 0; names[*index]; ++*index)
        if (!strcmp(names[*index], word))
            return true;
    return false;
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

/* Digits, and a blank if something follows. */
static bool take_number(char **text, uint64_t most, uint64_t *out)
{
    bool digit = **text >= '0' && **text <= '9';
    *out = strtoull(*text, text, 10);
    bool good = digit && *out <= most && (!**text || **text == ' ');
    *text += **text == ' ';
    return good;
}

static bool read_net(struct orders *o, char *value)
{
    bool good = take_name(&value, net_names, &o->net);
    while (good && *value)
        good = o->net == NET_TCP && o->port_count < ORDERS_PORTS &&
               take_number(&value, 65535, &o->port[o->port_count++]);
    return good;
}

static bool read_limit(struct orders *o, char *value)
{
    int i;
    return take_name(&value, limit_names, &i) &&
           take_number(&value, INT64_MAX / 2, &o->limit[i]) && o->limit[i];
}

static bool read_wall(struct orders *o, char *value)
{
    int wall, state;
    return take_name(&value, wall_names, &wall) &&
           take_name(&value, state_names, &state) &&
           (*(state ? &o->required[wall] : &o->off[wall]) = true);
}

static bool read_env(struct orders *o, char *value)
{
    return *value != '=' && strchr(value, '=') && o->env_count < ORDERS_ENV &&
           (o->env[o->env_count++] = value);
}

static bool read_path(struct orders *o, int access, const char *path)
{
    if (*path != '/' || o->path_count == ORDERS_PATHS)
        return false;
    o->write_list = o->write_list || access == ACCESS_WRITE;
    o->path[o->path_count] = path;
    o->access[o->path_count++] = access;
    return true;
}

bool orders_line(struct orders *o, char *line)
{
    char *value = line;
    int access;
    bool is_path = take_name(&value, access_names, &access);
    return !unescape(value)            ? false
           : is_path                   ? read_path(o, access, value)
           : !strcmp(line, "env")      ? read_env(o, value)
           : !strcmp(line, "net")      ? read_net(o, value)
           : !strcmp(line, "limit")    ? read_limit(o, value)
           : !strcmp(line, "wall")     ? read_wall(o, value)
           : !strcmp(line, "dir")      ? *value == '/' && (o->dir = value)
           : !strcmp(line, "terminal") ? (o->terminal = true)
                                       : false;
}
