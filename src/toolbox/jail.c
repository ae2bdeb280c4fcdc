/* jail.c - everything that one process needs before it starts */
#include "toolbox/jail.h"

#include "base/status.h"
#include "proc/folder.h"
#include "proc/reach.h"
#include "toolbox/needs.h"
#include "json/json.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

const allm_error *jail_open(struct jail *j, struct arena *a)
{
    int error = 0;
    buf_init(&j->orders, a, ORDERS_LIMIT);
    if (!j->least)
        j->folder = folder_new(a, &error);
    if (error)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "no private folder could be made for the process: "
                            "%s; check TMPDIR",
                            strerror(error));
    orders_walls(&j->orders, j->mode);
    orders_environment(&j->orders);
    orders_add(&j->orders, "dir", j->least ? "/" : j->dir);
    if (j->least)
        reach_least(&j->orders, j->program);
    else
        j->dir_hidden = !reach_default(&j->orders, j->program, j->dir,
                                       j->folder);
    needs_orders(&j->orders, j->needs, j->dir, j->cpu_s);
    const char *home = j->real_home && getenv("HOME") ? getenv("HOME")
                       : j->folder                    ? j->folder
                                                      : "/";
    orders_env(&j->orders, "HOME", home);
    if (j->folder)
        orders_env(&j->orders, "TMPDIR", j->folder);
    if (j->orders.over)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "the instructions for the process exceed %d bytes; "
                            "declare fewer paths",
                            (int)ORDERS_LIMIT);
    return j->orders.broken ? status_nomem() : NULL;
}

void jail_close(struct jail *j)
{
    folder_remove(j->folder);
    j->folder = NULL;
}

const char *jail_wall(const struct jail *j, const struct report *r)
{
    uint64_t mib = 0, cpu = j->cpu_s;
    allm_json_uint64(json_at(j->needs, "memory"), &mib);
    allm_json_uint64(json_at(j->needs, "seconds"), &cpu);
    bool late = cpu && (uint64_t)r->cpu_us + 200000 >= cpu * 1000000;
    if (r->signal == SIGSYS)
        return "seccomp";
    if (r->signal == SIGXCPU || (r->signal == SIGKILL && late))
        return "cpu time";
    if (r->signal == SIGXFSZ)
        return "file size";
    bool crashed = r->signal == SIGSEGV || r->signal == SIGABRT ||
                   r->signal == SIGBUS;
    return crashed && mib && (uint64_t)r->rss_kib > mib * 512 ? "memory" : NULL;
}

/* What the parts need, and what to do about it. */
static const char *advice_for(const char *part)
{
    if (!strcmp(part, "kernel") || !strcmp(part, "staying"))
        return "it needs seccomp filters, which this kernel or this processor "
               "lacks";
    if (!strcmp(part, "files") || !strcmp(part, "net"))
        return "it needs Landlock: Linux 5.13 (6.7 for a list of ports) with "
               "landlock in the kernel's list of security modules";
    if (!strcmp(part, "privileges"))
        return "it needs no_new_privs";
    return "it needs user namespaces, which this system forbids";
}

const allm_error *jail_refused(struct arena *a, const struct report *r)
{
    struct utsname system;
    const char *release = uname(&system) < 0 ? "unknown" : system.release;
    return status_error(a, ALLM_ERR_TOOL, "sandbox_unavailable",
                        "the process was not started, because a part of the "
                        "sandbox is missing: %s (%s, %s; Linux %s); %s; \"allm "
                        "doctor\" shows all parts, and --sandbox off runs "
                        "without any",
                        r->subject, r->path, strerror(r->error), release,
                        advice_for(r->subject));
}

static bool is_program(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

const char *jail_find(struct arena *a, const char *name, const char *dir)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return reach_resolve(a, name, dir);
    while (path && *path) {
        size_t n = strcspn(path, ":");
        struct buf file;
        buf_init(&file, a, PATH_MAX - 1);
        buf_add(&file, (struct slice){ path, n });
        buf_byte(&file, '/');
        buf_text(&file, name);
        if (*path == '/' && !file.broken && is_program(file.ptr))
            return file.ptr;
        path += n + (path[n] == ':');
    }
    return NULL;
}
