/*
 * fuzz_warden.c - any bytes as the instructions of a warden
 *
 * Each line is read as the warden reads it.  Whatever it is, the tables stay
 * within their bounds and refer to the text; a line that our own writer made of
 * the result is read again as the same value.
 */
#include "../warden/orders.c"   /* the program is not a library */

#include "proc/orders.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool inside(const char *p, const char *text, size_t size)
{
    return p >= text && p + strlen(p) <= text + size;
}

static void check_tables(const struct orders *o, const char *text, size_t size)
{
    demand(o->path_count <= ORDERS_PATHS && o->port_count <= ORDERS_PORTS &&
           o->env_count <= ORDERS_ENV && !o->env[o->env_count]);
    for (size_t i = 0; i < o->path_count; i++)
        demand(inside(o->path[i], text, size) && *o->path[i] == '/' &&
               o->access[i] >= 0 && o->access[i] <= ACCESS_PRIVATE);
    for (size_t i = 0; i < o->env_count; i++)
        demand(inside(o->env[i], text, size) && strchr(o->env[i], '='));
    demand(!o->dir || inside(o->dir, text, size));
    for (size_t i = 0; i < LIMIT_COUNT; i++)
        demand(o->limit[i] <= INT64_MAX);
}

/* A path that was read is the path that is read again. */
static void check_again(struct arena *a, const char *path)
{
    static struct orders again;
    struct buf line;
    buf_init(&line, a, SIZE_MAX / 2);
    orders_add(&line, "write", path);
    demand(!line.broken && line.ptr[line.len - 1] == '\n' &&
           !memchr(line.ptr, '\n', line.len - 1));
    line.ptr[line.len - 1] = 0;
    again = (struct orders){ 0 };
    demand(orders_line(&again, line.ptr));
    demand(again.path_count == 1 && !strcmp(again.path[0], path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct orders o;
    struct arena a;
    bool good = true;
    arena_init(&a, mem_default());
    char *text = arena_copy(&a, (struct slice){ (const char *)data, size });
    demand(text);
    o = (struct orders){ 0 };
    for (char *at = text; good && at < text + size;) {
        char *end = memchr(at, '\n', (size_t)(text + size - at));
        if (!end)
            break;
        *end = 0;
        good = orders_line(&o, at);
        at = end + 1;
    }
    if (good)
        check_tables(&o, text, size);
    for (size_t i = 0; good && i < o.path_count; i++)
        check_again(&a, o.path[i]);
    arena_release(&a);
    return 0;
}
