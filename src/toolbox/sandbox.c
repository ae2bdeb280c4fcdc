/*
 * sandbox.c - run one process in the sandbox; what this kernel can confine
 *
 * The process and its warden are in a poll set of their own, and the calling
 * thread waits.  The report starts a warden that builds all walls and runs
 * nothing.
 */
#include "allm.h"
#include "base/status.h"
#include "proc/warden.h"
#include "toolbox/needs.h"
#include "toolbox/once.h"
#include "json/build.h"
#include "json/json.h"

#include <limits.h>
#include <unistd.h>

static void add_output(struct build *b, const char *key, struct output *o,
                       bool kept)
{
    struct slice text = output_text(o);
    build_key(b, slice_of(key));
    if (kept && text.ptr)
        build_text_copy(b, text);
    else
        build_null(b);
}

static const allm_json *run_result(struct once *s, bool kept)
{
    const struct report *r = &s->process.report;
    const char *wall = jail_wall(&s->jail, r);
    struct build b = build_object_in(s->arena);
    build_int_at(&b, "status", r->status);
    build_int_at(&b, "signal", r->signal);
    build_text_or_null_at(&b, "wall", wall);
    build_bool_at(&b, "timed_out", s->timed_out);
    add_output(&b, "stdout", &s->process.out, kept);
    add_output(&b, "stderr", &s->process.err, kept);
    jail_add_missing(&b, r->missing);
    if (s->process.out.broken || s->process.err.broken)
        return NULL;
    return build_finish(&b);
}

static const allm_json *run_program(struct once *s, const char *const *argv,
                                    uint32_t flags, uint32_t timeout_ms)
{
    enum { MOST = 1024 };
    const char *all[MOST + 1];
    size_t n = 0;
    bool ours = (flags & ALLM_SANDBOX_STDIO) != 0;
    for (; argv[n] && n < MOST; n++)
        all[n] = argv[n];
    all[n] = NULL;
    all[0] = s->jail.program;
    s->error = jail_open(&s->jail, s->arena);
    if (ours)
        buf_text(&s->jail.orders, "terminal\n");
    const allm_json *result = NULL;
    if (!s->error &&
        once_run(s, all, ours ? CHILD_OURS : CHILD_NO_INPUT, timeout_ms)) {
        s->error = once_fault(s);
        result = s->error ? NULL : run_result(s, !ours);
        once_release(s);
    }
    jail_close(&s->jail);
    return result;
}

static const allm_error *check_run(struct once *s, const char *const *argv,
                                   char *dir, size_t cap)
{
    if (!argv || !argv[0])
        return status_error(s->arena, ALLM_ERR_MISUSE, "invalid_option",
                            "argv needs at least the program");
    if ((unsigned)s->jail.mode > ORDERS_OFF)
        return status_error(s->arena, ALLM_ERR_MISUSE, "invalid_option",
                            "mode must be one of ALLM_SANDBOX_*");
    if (!getcwd(dir, cap))
        return status_error(s->arena, ALLM_ERR_TOOL, "handler_exit",
                            "the working directory does not exist");
    s->jail.dir = dir;
    s->jail.program = jail_find(s->arena, argv[0], dir);
    if (!s->jail.program)
        return status_error(s->arena, ALLM_ERR_TOOL, "handler_exit",
                            "no program \"%.200s\" in PATH", argv[0]);
    return needs_check(s->arena, &s->jail.needs, dir, NULL);
}

allm_json *allm_sandbox_run(const allm_json *needs, allm_sandbox_mode mode,
                            const char *const *argv, uint32_t flags,
                            uint32_t timeout_ms)
{
    struct allm_home *home = home_new(mem_default(), 4096);
    char dir[PATH_MAX];
    if (!home)
        return NULL;
    struct once s = { .arena = home_arena(home),
                         .jail = { .needs = needs,
                                   .mode = (enum orders_mode)mode,
                                   .agents = flags & ALLM_SANDBOX_AGENTS,
                                   .real_home = mode == ALLM_SANDBOX_OFF } };
    const allm_json *result = NULL;
    s.error = check_run(&s, argv, dir, sizeof dir);
    if (!s.error)
        result = run_program(&s, argv, flags, timeout_ms);
    return json_root_of(home, result,
                        result || s.error ? s.error : status_nomem());
}

/* ----------------------------------------------------------- the report --- */

struct facts {
    int landlock;
    bool filter, mounts, pids, limited;
};

enum wall_state { NO_SUCH_PART, NOT_IN_FORCE, IN_FORCE };

static enum wall_state state_of(bool in_force)
{
    return in_force ? IN_FORCE : NOT_IN_FORCE;
}

static void add_state(struct build *b, const char *key, enum wall_state state)
{
    build_key(b, slice_of(key));
    if (state == NO_SUCH_PART)
        build_null(b);
    else
        build_bool(b, state == IN_FORCE);
}

static void add_part(struct build *b, const char *part, bool required,
                     enum wall_state first, enum wall_state second,
                     const char *note)
{
    build_object(b);
    build_text_at(b, "part", slice_of(part));
    add_state(b, "first", first);
    add_state(b, "second", second);
    build_bool_at(b, "required", required);
    build_text_at(b, "note", slice_of(note));
    build_end(b);
}

static void add_parts(struct build *b, const struct facts *f)
{
    enum wall_state filter = state_of(f->filter), pids = state_of(f->pids);
    build_array_at(b, "parts");
    add_part(b, "files", true, state_of(f->landlock >= 1), state_of(f->mounts),
             f->landlock >= 3 ? "Landlock; read-only mounts"
                              : "Landlock without truncate; read-only mounts");
    add_part(b, "metadata", false, filter, state_of(f->mounts),
             "first: only while no folder is granted for writing");
    add_part(b, "net", true, filter, NO_SUCH_PART,
             f->landlock >= 4 ? "seccomp; ports by Landlock"
                              : "seccomp; a list of ports needs Linux 6.7");
    add_part(b, "signals", false, state_of(f->landlock >= 6), pids,
             "Landlock scopes; a pid namespace");
    add_part(b, "processes", false, state_of(geteuid() != 0),
             state_of(f->limited), "a limit; for root in a pid namespace only");
    add_part(b, "privileges", true, IN_FORCE, NO_SUCH_PART,
             "no_new_privs, no capabilities");
    add_part(b, "kernel", true, filter, NO_SUCH_PART, "seccomp");
    add_part(b, "staying", true, filter, pids, "no process leaves the group");
    add_part(b, "amount", false, IN_FORCE, NO_SUCH_PART,
             "CPU time, file size, descriptors");
    build_end(b);
}

static const allm_json *report_result(struct once *s)
{
    const struct report *r = &s->process.report;
    bool on_root = geteuid() == 0;
    const struct facts f = {
        .landlock = (int8_t)r->status,
        .filter = r->kind == REPORT_ENDED,
        .mounts = !strstr(r->missing, " mounts"),
        .pids = !strstr(r->missing, " pids"),
        .limited = !strstr(r->missing, " processes"),
    };
    const allm_error *error;
    struct build b = build_object_in(s->arena);
    build_int_at(&b, "landlock", f.landlock);
    build_bool_at(&b, "on", f.filter && f.landlock >= 1);
    build_bool_at(&b, "strict",
                  f.filter && f.landlock >= 1 && f.mounts &&
                      (f.pids || f.landlock >= 6) && (f.limited || !on_root));
    build_text_at(&b, "warden", slice_of(warden_path(s->arena, &error)));
    add_parts(&b, &f);
    return build_finish(&b);
}

allm_json *allm_sandbox_report(void)
{
    static const char *const argv[] = { "-", NULL };
    struct allm_home *home = home_new(mem_default(), 4096);
    if (!home)
        return NULL;
    struct once s = { .arena = home_arena(home),
                         .jail = { .program = "allm-warden" } };
    const allm_json *result = NULL;
    buf_init(&s.jail.orders, s.arena, ORDERS_LIMIT);
    orders_limit(&s.jail.orders, "procs", 64);
    if (once_run(&s, argv, CHILD_NO_INPUT, 10000)) {
        result = report_result(&s);
        once_release(&s);
    }
    return json_root_of(home, result,
                        result || s.error ? s.error : status_nomem());
}
