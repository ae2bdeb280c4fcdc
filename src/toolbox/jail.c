/* jail.c - everything that one process needs before it starts */
#include "toolbox/jail.h"

#include "base/status.h"
#include "proc/folder.h"
#include "proc/reach.h"
#include "toolbox/needs.h"
#include "json/build.h"
#include "json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* By these, password managers reach the user's own agents. */
static void add_agents(struct buf *orders)
{
    static const char *const names[] = {
        "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "GNUPGHOME",
        "PASSWORD_STORE_DIR", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY",
        "XDG_RUNTIME_DIR"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            orders_env(orders, names[i], getenv(names[i]));
}

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
    orders_environment(&j->orders, j->mode);
    orders_add(&j->orders, "dir", j->least ? "/" : j->dir);
    if (j->least)
        reach_least(&j->orders, j->program);
    else
        j->dir_hidden = !reach_default(&j->orders, j->program, j->dir,
                                       j->folder);
    const char *moved = needs_orders(&j->orders, j->needs, j->cpu_s);
    const char *home = j->real_home && getenv("HOME") ? getenv("HOME")
                       : j->folder                    ? j->folder
                                                      : "/";
    orders_env(&j->orders, "HOME", home);
    if (j->folder)
        orders_env(&j->orders, "TMPDIR", j->folder);
    if (j->agents)
        add_agents(&j->orders);
    if (moved && !a->broken)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "the process was not started: %s, which its needs "
                            "name, leads through a link now; remove the link",
                            moved);
    if (j->orders.over)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "the instructions for the process exceed %d bytes; "
                            "declare fewer paths",
                            (int)ORDERS_LIMIT);
    /* A secret path may not have been recognised. */
    return j->orders.broken || a->broken ? status_nomem() : NULL;
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

void jail_add_missing(struct build *b, const char *parts)
{
    struct slice rest = slice_of(parts);
    build_array_at(b, "missing");
    slice_take(&rest, ' ');     /* the blank before the first one */
    while (rest.len)
        build_text_copy(b, slice_take(&rest, ' '));
    build_end(b);
}

const char *jail_hint(const struct jail *j)
{
    return j->dir_hidden && j->mode != ORDERS_OFF
               ? "[the sandbox hides the working directory, which contains "
                 "paths that are never accessible, such as ~/.ssh; work in a "
                 "folder below it]\n"
               : "";
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

static const allm_error *sandbox_fault(struct arena *a, const struct report *r)
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

enum { HEAD_SIZE = 256 };

/* The beginning of a file, NUL-terminated. */
static void read_head(const char *program, char text[HEAD_SIZE])
{
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? 0 : read(fd, text, HEAD_SIZE - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
}

/* A word after "#!", in the arena; NULL: it is not a script, or has none. */
static const char *interpreter_word(struct arena *a, const char *program,
                                    size_t index)
{
    char text[HEAD_SIZE] = "";
    read_head(program, text);
    if (strncmp(text, "#!", 2) != 0)
        return NULL;
    struct slice line =
        slice_trim((struct slice){ text + 2, strcspn(text + 2, "\n") });
    for (; index && line.len; index--)
        line = slice_trim(slice_skip(line, strcspn(line.ptr, " \t\r\n")));
    line.len = line.len ? strcspn(line.ptr, " \t\r\n") : 0;
    return index ? NULL : arena_copy(a, line);
}

/* Then the kernel looks for an interpreter with a CR in its name. */
static bool ends_in_crlf(const char *program)
{
    char text[HEAD_SIZE] = "";
    read_head(program, text);
    size_t n = strcspn(text, "\n");
    return n && text[n] && text[n - 1] == '\r';
}

/* The program exists, but the kernel did not start it. */
static const allm_error *exec_fault(struct arena *a, const struct report *r)
{
    const char *interpreter = interpreter_word(a, r->path, 0);
    if (access(r->path, X_OK) && errno == EACCES)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "%s is not executable; run chmod +x", r->path);
    if (interpreter && access(interpreter, X_OK))
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "%s cannot be started: its interpreter %s (after "
                            "\"#!\" in its first line) does not exist",
                            r->path, interpreter);
    if (interpreter && r->error == ENOENT && ends_in_crlf(r->path))
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "%s cannot be started: its first line ends in CR "
                            "LF; save it with LF at the ends of lines",
                            r->path);
    if (interpreter && r->error == EACCES)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "%s cannot be started, because the sandbox hides "
                            "its interpreter; add %s to needs.read",
                            r->path, interpreter);
    return jail_not_started(a, r->path, r->error);
}

const allm_error *jail_not_started(struct arena *a, const char *program,
                                   int error)
{
    return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                        "%s cannot be started: %s%s", program, strerror(error),
                        error == EACCES    ? "; if the sandbox hides it, add "
                                             "its path to needs.read"
                        : error == ENOEXEC ? "; a script begins with \"#!\" "
                                             "and its interpreter"
                                           : "");
}

bool jail_is_program(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* A program in PATH, either below the home or elsewhere; NULL: none. */
static const char *find_in_path(struct arena *a, const char *name, bool in_home)
{
    const char *path = getenv("PATH");
    for (struct slice f; (f = orders_next_folder(&path)).ptr;) {
        if (!f.len || *f.ptr != '/' || orders_in_home(f) != in_home)
            continue;
        struct buf file = buf_in(a, PATH_MAX - 1);
        buf_add(&file, f);
        buf_byte(&file, '/');
        buf_text(&file, name);
        if (!file.broken && jail_is_program(file.ptr))
            return file.ptr;
    }
    return NULL;
}

/* "#!/usr/bin/env NAME" finds nothing in the home; NULL: it is no such case. */
static const allm_error *env_fault(const struct jail *j, struct arena *a)
{
    const char *env = interpreter_word(a, j->program, 0);
    const char *name = interpreter_word(a, j->program, 1);
    if (name && !strcmp(name, "-S"))
        name = interpreter_word(a, j->program, 2);
    if (!name || !*name || !slice_ends(slice_of(env), SLICE("/env")) ||
        find_in_path(a, name, false))
        return NULL;
    const char *found = find_in_path(a, name, true);
    return !found ? NULL
                  : status_error(a, ALLM_ERR_TOOL, "handler_exit",
                                 "%s cannot be started: its interpreter %s is "
                                 "in your home, which the sandbox hides; begin "
                                 "it with #!%s, and add its folder to "
                                 "needs.read",
                                 j->program, found, found);
}

const allm_error *jail_fault(const struct jail *j, struct arena *a,
                             const struct report *r)
{
    if (r->kind == REPORT_REFUSED)
        return sandbox_fault(a, r);
    if (r->kind == REPORT_NONE)
        return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                            "the warden of %s was killed", j->program);
    if (r->kind == REPORT_ENDED)
        return r->status == 127 && j->mode != ORDERS_OFF ? env_fault(j, a)
                                                         : NULL;
    if (!strcmp(r->subject, "exec"))
        return exec_fault(a, r);
    return status_error(a, ALLM_ERR_TOOL, "handler_exit",
                        "%s was not started: %s %s: %s", j->program, r->subject,
                        r->path, r->error ? strerror(r->error) : "");
}

/* The home is searched last, because the walls hide it. */
const char *jail_find(struct arena *a, const char *name, const char *dir)
{
    if (strchr(name, '/'))
        return reach_resolve(a, name, dir);
    const char *found = find_in_path(a, name, false);
    return found ? found : find_in_path(a, name, true);
}
