/* program.c - executables as tools */
#include "toolbox/program.h"

#include "allm.h"
#include "base/file.h"
#include "base/status.h"
#include "toolbox/once.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DESCRIBE_MS = 5000, DESCRIBE_BYTES = 1 << 20, PROGRAMS_MOST = 1024 };

static const allm_error *file_fault(struct arena *a, const char *path,
                                    int error)
{
    if (error == ENOMEM)
        return status_nomem();
    return status_error(a, ALLM_ERR_VALIDATION, "invalid_tool",
                        "the description %s cannot be read: %s", path,
                        strerror(error));
}

static const char *add_suffix(struct arena *a, const char *path,
                              const char *suffix)
{
    struct buf whole = buf_in(a, PATH_MAX + 16);
    buf_text(&whole, path);
    buf_text(&whole, suffix);
    return whole.ptr;
}

/* Where a description is from that a program prints; for messages. */
static const char *describe_call(struct arena *a, const char *path)
{
    struct buf whole = buf_in(a, 2 * PATH_MAX + 64);
    buf_format(&whole, "%s --allm-describe (there is no file %s.json)", path,
               path);
    return whole.ptr;
}

/* What the program printed; or the error in o->error. */
static struct slice described_text(struct once *o)
{
    const struct report *r = &o->process.report;
    struct slice none = { NULL, 0 }, text = output_text(&o->process.out);
    struct slice err = output_text(&o->process.err);
    o->error = once_fault(o);
    if (o->error)
        return none;
    bool cut = output_is_cut(&o->process.out);
    if (o->timed_out || r->status || r->signal || !text.len || cut)
        o->error = status_error(
            o->arena, ALLM_ERR_VALIDATION, "invalid_tool",
            "%s has no description: there is no file %s.json, and %s "
            "--allm-describe %s%s%.400s",
            o->jail.program, o->jail.program, o->jail.program,
            o->timed_out             ? "did not end within 5 s"
            : r->status || r->signal ? "failed"
            : cut                    ? "printed more than 1 MiB"
                                     : "printed nothing",
            err.len ? ": " : "", err.ptr ? err.ptr : "");
    return o->error ? none
                    : (struct slice){ arena_copy(o->arena, text), text.len };
}

static const allm_error *ask_program(struct program *p, struct arena *a,
                                     struct slice *text)
{
    const char *argv[] = { p->path, "--allm-describe", NULL };
    struct once o = { .arena = a,
                      .jail = { .program = p->path, .dir = "/",
                                .mode = p->mode, .cpu_s = 5, .least = true } };
    o.error = jail_open(&o.jail, a);
    if (!o.error && once_run(&o, argv, CHILD_NO_INPUT, DESCRIBE_MS)) {
        *text = described_text(&o);
        once_release(&o);
        if (!o.error && !text->ptr)
            o.error = status_nomem();
    }
    return o.error;
}

const allm_error *program_read(struct program *p, struct allm_home *home)
{
    struct arena *a = home_arena(home);
    const char *where = add_suffix(a, p->path, ".json");
    struct slice text;
    struct stat st;
    if (!where)
        return status_nomem();
    if (stat(p->path, &st) || !S_ISREG(st.st_mode))
        return status_error(a, ALLM_ERR_VALIDATION, "invalid_tool",
                            "%s is not a file", p->path);
    if (access(p->path, X_OK))
        return status_error(a, ALLM_ERR_VALIDATION, "invalid_tool",
                            "%s is not executable; run chmod +x", p->path);
    int error = file_read_regular(a, where, DESCRIBE_BYTES, &text);
    if (error && error != ENOENT)
        return file_fault(a, where, error);
    if (error) {
        const allm_error *why = ask_program(p, a, &text);
        where = describe_call(a, p->path);
        if (why || !where)
            return why ? why : status_nomem();
    }
    const struct describe_place place = { where, p->dir, p->grants };
    return describe_read(home, text, &place, &p->list, &p->count);
}

/* A variable, unless there is no value. */
static void add_variable(struct buf *orders, const char *name,
                         const char *value)
{
    if (value)
        orders_env(orders, name, value);
}

const allm_error *program_jail(const struct program *p,
                               const struct described *d,
                               const allm_tool_run *run, struct jail *j,
                               struct arena *a)
{
    *j = (struct jail){ .program = p->path, .dir = p->dir, .needs = d->needs,
                        .mode = p->mode,
                        .cpu_s = d->tool->timeout_ms / 1000 + 1 };
    const allm_error *why = jail_open(j, a);
    if (why)
        return why;
    add_variable(&j->orders, "ALLM_TOOL", d->tool->name);
    add_variable(&j->orders, "ALLM_CALL_ID", allm_tool_run_call(run)->id);
    add_variable(&j->orders, "ALLM_SESSION", allm_tool_run_session_id(run));
    add_variable(&j->orders, "ALLM_IDEMPOTENCY_KEY", allm_tool_run_key(run));
    return j->orders.broken ? status_nomem() : NULL;
}

static int order_paths(const void *x, const void *y)
{
    const char *const *a = x, *const *b = y;
    return strcmp(*a, *b);
}

int program_list(struct arena *a, const char *folder, const char ***paths,
                 size_t *count)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return errno;
    *count = 0;
    *paths = arena_alloc(a, PROGRAMS_MOST * sizeof **paths);
    const char *with_slash = add_suffix(a, folder, "/");
    bool whole = *paths && with_slash;
    for (struct dirent *e; whole && (e = readdir(dir));) {
        const char *path = add_suffix(a, with_slash, e->d_name);
        whole = path != NULL;
        if (whole && e->d_name[0] != '.' && *count < PROGRAMS_MOST &&
            !slice_ends(slice_of(e->d_name), SLICE(".json")) &&
            jail_is_program(path))
            (*paths)[(*count)++] = path;
    }
    closedir(dir);
    if (!whole)
        return ENOMEM;
    qsort(*paths, *count, sizeof **paths, order_paths);
    return 0;
}
