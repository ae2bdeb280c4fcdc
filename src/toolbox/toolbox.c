/*
 * toolbox.c - all external tools as one object
 *
 *      programs  --+
 *      built-in  --+--> sources --> list --> tools(), execute()
 *      servers   --+                         an allm_executor
 *
 * Tools may be added at any time, and servers may change theirs.  The list is
 * made when it is asked for; one that was returned stays valid as long as the
 * toolbox.
 */
#define _XOPEN_SOURCE 700       /* realpath */
#include "toolbox/toolbox.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "tool/run.h"
#include "toolbox/builtin.h"
#include "toolbox/needs.h"
#include "toolbox/server.h"
#include "json/build.h"
#include "json/json.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCS = 16 };

/* ------------------------------------------------------------ executor --- */

static const allm_tool *const *list_tools(void *self, size_t *count)
{
    allm_toolbox *t = self;
    const struct entry_list *list = list_entries(&t->list);
    *count = list->count;
    return list->tools;
}

static void execute_call(void *self, const allm_tool *tool, allm_tool_run *run,
                         const allm_json *args)
{
    const char *name = tool ? tool->name : allm_tool_run_call(run)->name;
    allm_toolbox *t = self;
    const struct entry *e = list_find(&t->list, name);
    if (!e)
        run_fail(run, FAILURE_NOT_FOUND, DETAIL_NO_EXECUTOR);
    else if (gatekeeper_admits(t->keeper, t, e, run, args))
        e->execute(t, e, run, args);
}

static void ask_keeper(void *self, allm_approval *a)
{
    allm_toolbox *t = self;
    const char *name = allm_approval_call(a)->name;
    gatekeeper_ask(t->keeper, t, list_find(&t->list, name), a);
}

/* -------------------------------------------------------------- object --- */

static void close_toolbox(void *arg)
{
    allm_toolbox *t = arg;
    builtins_free(t->builtins);
    crew_free(t->crew);
    gatekeeper_free(t->keeper);
    servers_free(t->servers);
    list_release(&t->list);
    pthread_mutex_destroy(&t->lock);
}

static const allm_error *resolve_root(allm_toolbox *t, const char *given)
{
    char real[PATH_MAX];
    struct arena *a = home_arena(t->home);
    struct stat st;
    const char *root = given && *given ? given : ".";
    if (!realpath(root, real) || stat(real, &st) || !S_ISDIR(st.st_mode))
        return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                            "root \"%.200s\" is not a folder", root);
    t->root = arena_text(a, real);
    return t->root ? NULL : status_nomem();
}

/* Copy the options of the HTTP client; false: no memory, or a wrong size. */
static bool take_net(allm_toolbox *t, const allm_net_opts *from)
{
    struct arena *a = home_arena(t->home);
    if (!from)
        return true;
    if (!caller_struct_take(&t->net, sizeof t->net, from))
        return false;
    t->net.ca_file = arena_text(a, t->net.ca_file);
    t->net.proxy = arena_text(a, t->net.proxy);
    t->net.user_agent = arena_text(a, t->net.user_agent);
    return !a->broken;
}

static const allm_error *fill_toolbox(allm_toolbox *t,
                                      const allm_toolbox_opts *given)
{
    allm_toolbox_opts o;
    struct arena *a = home_arena(t->home);
    if (!caller_struct_take(&o, sizeof o, given) || !take_net(t, o.net))
        return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                            "the size of the options is wrong; fill them with "
                            "ALLM(toolbox_opts, ...)");
    if (o.grants && !(t->grants = json_copy(a, o.grants)))
        return status_nomem();
    if ((unsigned)o.sandbox > ALLM_SANDBOX_OFF)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                            "sandbox must be one of ALLM_SANDBOX_*");
    t->mode = (enum orders_mode)o.sandbox;
    t->clock = clock_from(o.clock);
    t->crew = crew_new(home_mem(t->home), o.max_procs ? o.max_procs : PROCS);
    const allm_error *error = t->crew ? resolve_root(t, o.root)
                                      : status_nomem();
    if (error)
        return error;
    const struct builtins_env env = { .mem = home_mem(t->home),
                                      .root = t->root, .crew = t->crew,
                                      .mode = t->mode,
                                      .net.public_only = true,
                                      .net.ca_file = t->net.ca_file,
                                      .net.proxy = t->net.proxy,
                                      .net.user_agent = t->net.user_agent };
    t->builtins = builtins_new(&env);
    t->keeper = gatekeeper_new(home_mem(t->home), &o, t->root, t->clock);
    struct servers_opts servers = { .crew = t->crew, .list = &t->list,
                                    .root = t->root, .grants = t->grants,
                                    .mode = t->mode,
                                    .net = o.net ? &t->net : NULL,
                                    .clock = t->clock,
                                    .elicit = o.elicit,
                                    .progress = o.progress, .ud = o.ud,
                                    .trace = o.trace, .trace_ud = o.trace_ud };
    t->servers = t->builtins ? servers_new(home_mem(t->home), &servers) : NULL;
    return t->servers && t->keeper ? NULL : status_nomem();
}

/* The home is the object: the last reference closes it. */
allm_toolbox *allm_toolbox_new(const allm_toolbox_opts *opts)
{
    const allm_allocator *given = opts && MEM_REACHES(opts, allocator)
                                      ? opts->allocator
                                      : NULL;
    struct allm_home *home = home_new(mem_from(given), 4096);
    allm_toolbox *t = home ? arena_zero(home_arena(home), sizeof *t) : NULL;
    if (!t) {
        home_drop(home);
        return NULL;
    }
    t->home = home;
    t->pid = (int)getpid();
    t->executor = (allm_executor){ .size = sizeof t->executor, .self = t,
                                   .execute = execute_call,
                                   .tools = list_tools,
                                   .flags = ALLM_EXECUTOR_INLINE };
    t->gate = (allm_gate){ .size = sizeof t->gate, .ask = ask_keeper,
                           .ud = t };
    t->faults_end = &t->faults;
    list_init(&t->list, home_mem(home));
    pthread_mutex_init(&t->lock, NULL);
    if (!home_on_free(home, close_toolbox, t)) {
        home_drop(home);
        return NULL;
    }
    t->error = fill_toolbox(t, opts);
    return t;
}

allm_toolbox *allm_toolbox_keep(allm_toolbox *t)
{
    if (t)
        home_keep(t->home);
    return t;
}

/* A child of fork() has no thread to end. */
void allm_toolbox_free(allm_toolbox *t)
{
    if (t && t->pid == (int)getpid())
        home_drop(t->home);
}

const allm_error *allm_toolbox_error(const allm_toolbox *t)
{
    if (!t)
        return status_nomem();
    return t->error || !t->keeper ? t->error : gatekeeper_error(t->keeper);
}

const allm_executor *allm_toolbox_executor(allm_toolbox *t)
{
    return t ? &t->executor : NULL;
}

const allm_gate *allm_toolbox_gate(allm_toolbox *t)
{
    return t && t->keeper ? &t->gate : NULL;
}

allm_json *allm_toolbox_rules(const allm_toolbox *t)
{
    struct allm_home *home = t && t->keeper ? home_new(home_mem(t->home), 4096)
                                            : NULL;
    if (!home)
        return NULL;
    const allm_json *list = gatekeeper_list(t->keeper, home_arena(home));
    return json_root_of(home, list, list ? NULL : status_nomem());
}

allm_status allm_toolbox_forget(allm_toolbox *t, uint32_t index)
{
    if (!t || !t->keeper)
        return t ? ALLM_ERR_MISUSE : ALLM_ERR_NOMEM;
    pthread_mutex_lock(&t->lock);
    const allm_error *error = gatekeeper_forget(t->keeper, index,
                                                home_arena(t->home));
    t->error = error;
    pthread_mutex_unlock(&t->lock);
    return error ? error->kind : ALLM_OK;
}

/* ------------------------------------------------------- adding tools --- */

/* NULL, or the error: a name is taken, or out of memory. */
static const allm_error *publish_entries(allm_toolbox *t, size_t count,
                                         const struct entry *entries)
{
    const struct entry *taken;
    if (!list_add(&t->list, count, entries, &taken))
        return status_nomem();
    return taken ? status_error(home_arena(t->home), ALLM_ERR_VALIDATION,
                                "invalid_tool",
                                "%s: there is already a tool named %s",
                                taken->source, taken->tool->name)
                 : NULL;
}

struct program_entry {
    const struct program *program;
    const struct described *tool;
};

static void execute_program(allm_toolbox *t, const struct entry *e,
                            allm_tool_run *run, const allm_json *args)
{
    const struct program_entry *p = e->data;
    crew_call(t->crew, p->program, p->tool, run, args);
}

static const allm_error *publish_program(allm_toolbox *t,
                                         const struct program *p)
{
    struct arena *a = home_arena(t->home);
    struct entry *list = arena_zero(a, p->count * sizeof *list);
    struct program_entry *data = arena_zero(a, p->count * sizeof *data);
    for (size_t i = 0; list && data && i < p->count; i++) {
        const struct described *d = &p->list[i];
        data[i] = (struct program_entry){ p, d };
        list[i] = (struct entry){ .tool = d->tool, .execute = execute_program,
                                  .data = &data[i], .kind = "program",
                                  .source = p->path, .process = true };
        list[i].reach = needs_words(a, d->needs);
    }
    return list && data ? publish_entries(t, p->count, list) : status_nomem();
}

/* Remember what failed, for the report. */
static void note_fault(allm_toolbox *t, const char *source,
                       const allm_error *error)
{
    struct fault *f = arena_zero(home_arena(t->home), sizeof *f);
    t->error = error;
    if (!f)
        return;
    f->source = arena_text(home_arena(t->home), source);
    f->error = error;
    *t->faults_end = f;
    t->faults_end = &f->next;
}

/* A toolbox that was rejected keeps its error; a child of fork() sets none. */
static allm_status refuse_add(allm_toolbox *t, const char *why)
{
    if (!t->root || t->pid != (int)getpid())
        return ALLM_ERR_MISUSE;
    pthread_mutex_lock(&t->lock);
    t->error = status_error(home_arena(t->home), ALLM_ERR_MISUSE,
                            "invalid_option", "%s", why);
    pthread_mutex_unlock(&t->lock);
    return ALLM_ERR_MISUSE;
}

static allm_status add_one(allm_toolbox *t, const char *path)
{
    struct arena *a = home_arena(t->home);
    struct program *p = arena_zero(a, sizeof *p);
    const allm_error *error = status_nomem();
    if (p) {
        *p = (struct program){ .path = arena_text(a, path), .dir = t->root,
                               .mode = t->mode, .grants = t->grants };
        if (p->path)
            error = program_read(p, t->home);
        if (!error)
            error = publish_program(t, p);
    }
    if (error)
        note_fault(t, path, error);
    return error ? error->kind : ALLM_OK;
}

/* Every program in it; those that fail are in the report. */
static allm_status add_folder(allm_toolbox *t, const char *path)
{
    const char **paths;
    size_t count;
    int error = program_list(home_arena(t->home), path, &paths, &count);
    if (error) {
        note_fault(t, path,
                   status_error(home_arena(t->home), ALLM_ERR_VALIDATION,
                                "invalid_tool", "%s: %s", path,
                                strerror(error)));
        return t->error->kind;
    }
    for (size_t i = 0; i < count; i++)
        add_one(t, paths[i]);
    return ALLM_OK;
}

static allm_status add_path(allm_toolbox *t, const char *path)
{
    char real[PATH_MAX];
    struct stat st;
    if (!realpath(path, real) || stat(real, &st)) {
        note_fault(t, path,
                   status_error(home_arena(t->home), ALLM_ERR_VALIDATION,
                                "invalid_tool",
                                "there is no program \"%.400s\"", path));
        return t->error->kind;
    }
    return S_ISDIR(st.st_mode) ? add_folder(t, real) : add_one(t, real);
}

allm_status allm_toolbox_add_program(allm_toolbox *t, const char *path)
{
    if (!t)
        return ALLM_ERR_NOMEM;
    if (!path || !t->root || t->pid != (int)getpid())
        return refuse_add(t, "a program needs a path");
    pthread_mutex_lock(&t->lock);
    allm_status status = add_path(t, path);
    pthread_mutex_unlock(&t->lock);
    return status;
}

/* Those that are not there already. */
static const allm_error *publish_builtin(allm_toolbox *t, const char *names)
{
    struct entry *all;
    size_t count, n = 0;
    const allm_error *error = builtin_read(t->builtins, t->home, names, &all,
                                           &count);
    for (size_t i = 0; !error && i < count; i++) {
        const struct entry *old = list_find(&t->list, all[i].tool->name);
        if (!old || strcmp(old->kind, all[i].kind) != 0)
            all[n++] = all[i];
    }
    return error ? error : publish_entries(t, n, all);
}

allm_status allm_toolbox_add_builtin(allm_toolbox *t, const char *names)
{
    if (!t || (t->root && !t->builtins))
        return ALLM_ERR_NOMEM;
    if (!names || !t->root || t->pid != (int)getpid())
        return refuse_add(t, "built-in tools need their names");
    pthread_mutex_lock(&t->lock);
    const allm_error *error = publish_builtin(t, names);
    if (error)
        note_fault(t, names, error);
    pthread_mutex_unlock(&t->lock);
    return error ? error->kind : ALLM_OK;
}

/* ------------------------------------------------------------- servers --- */

allm_status allm_toolbox_add_server(allm_toolbox *t, const char *name,
                                    const allm_json *entry)
{
    if (!t || (t->root && !t->servers))
        return ALLM_ERR_NOMEM;
    if (!name || !entry || !t->root || t->pid != (int)getpid())
        return refuse_add(t, "a server needs a name and an entry");
    pthread_mutex_lock(&t->lock);
    const allm_error *error = servers_add(t->servers, t->home, name, entry);
    if (error)
        note_fault(t, name, error);
    pthread_mutex_unlock(&t->lock);
    return error ? error->kind : ALLM_OK;
}

allm_status allm_toolbox_wait(allm_toolbox *t, int timeout_ms)
{
    if (!t || (t->root && !t->servers))
        return ALLM_ERR_NOMEM;
    if (!t->root || t->pid != (int)getpid())
        return ALLM_ERR_MISUSE;
    bool settled = servers_settle(t->servers, timeout_ms);
    pthread_mutex_lock(&t->lock);
    const allm_error *error = servers_missing(t->servers, home_arena(t->home));
    if (error)
        t->error = error;
    pthread_mutex_unlock(&t->lock);
    return error ? error->kind : settled ? ALLM_OK : ALLM_AGAIN;
}

int allm_toolbox_fd(const allm_toolbox *t)
{
    return t && t->servers ? servers_fd(t->servers) : -1;
}

static allm_json *refuse_request(const allm_toolbox *t, const char *why)
{
    struct allm_home *home = home_new(home_mem(t->home), 256);
    return home ? json_root_of(home, NULL,
                               status_error(home_arena(home), ALLM_ERR_MISUSE,
                                            "invalid_option", "%s", why))
                : NULL;
}

allm_json *allm_toolbox_request(allm_toolbox *t, const char *server,
                                const char *method, const allm_json *params,
                                uint32_t timeout_ms)
{
    const char *why = NULL;
    if (!t || (t->root && !t->servers))
        return NULL;
    if (!t->root)
        why = "the toolbox was rejected: see allm_toolbox_error()";
    else if (t->pid != (int)getpid())
        why = "after fork() the child may only free the toolbox";
    else if (!server || !method)
        why = "a request needs a server and a method";
    return why ? refuse_request(t, why)
               : servers_request(t->servers, server, method, params,
                                 timeout_ms);
}

/* -------------------------------------------------------------- report --- */

static void report_entry(struct build *b, const struct entry *e)
{
    static const char *const effects[] = { "write", "idempotent", "pure" };
    build_object(b);
    build_text_at(b, "name", slice_of(e->tool->name));
    build_text_at(b, "kind", slice_of(e->kind));
    build_text_at(b, "source", slice_of(e->source));
    build_text_at(b, "effect", slice_of(effects[e->tool->effect]));
    build_uint_at(b, "timeout_ms", e->tool->timeout_ms);
    build_value_at(b, "reach", e->reach ? e->reach : json_empty_array());
    build_end(b);
}

/* A tool that is left out, because another source has its name. */
static void report_hidden(struct build *b, struct arena *a,
                          const struct entry *e)
{
    struct buf why = buf_in(a, 1024);
    buf_format(&why, "there is already a tool named %s", e->tool->name);
    build_object(b);
    build_text_at(b, "source", slice_of(e->source));
    build_text_at(b, "reason", SLICE("invalid_tool"));
    build_text_at(b, "error", buf_slice(&why));
    build_end(b);
}

static void report_faults(struct build *b, struct arena *a,
                          const allm_toolbox *t, const struct entry_list *list)
{
    build_array_at(b, "failed");
    for (const struct fault *f = t->faults; f; f = f->next) {
        build_object(b);
        build_text_at(b, "source", slice_of(f->source));
        build_text_at(b, "reason", slice_of(f->error->reason));
        build_text_at(b, "error", slice_of(f->error->message));
        build_end(b);
    }
    for (size_t i = 0; i < list->hidden_count; i++)
        report_hidden(b, a, &list->hidden[i]);
    build_end(b);
}

allm_json *allm_toolbox_report(const allm_toolbox *given)
{
    static const char *const modes[] = { "on", "strict", "off" };
    allm_toolbox *t = (allm_toolbox *)(uintptr_t)given;
    struct allm_home *home = t ? home_new(home_mem(t->home), 4096) : NULL;
    if (!home)
        return NULL;
    struct arena scratch = arena_in(home_mem(t->home));
    struct build b = build_in(&scratch);
    const struct entry_list *list = list_entries(&t->list);
    char missing[CREW_MISSING] = "";
    pthread_mutex_lock(&t->lock);
    build_object(&b);
    build_text_at(&b, "root", slice_of(t->root ? t->root : ""));
    build_text_at(&b, "sandbox", slice_of(modes[t->mode]));
    build_array_at(&b, "tools");
    for (size_t i = 0; i < list->count; i++)
        report_entry(&b, &list->entries[i]);
    build_end(&b);
    servers_report(t->servers, &b);
    if (t->crew)
        crew_missing(t->crew, missing);
    jail_add_missing(&b, missing);
    report_faults(&b, &scratch, t, list);
    const allm_json *copy = json_copy(home_arena(home), build_finish(&b));
    pthread_mutex_unlock(&t->lock);
    arena_release(&scratch);
    return json_root_of(home, copy, copy ? NULL : status_nomem());
}
