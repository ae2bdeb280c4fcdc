/*
 * toolbox.c - all external tools as one object
 *
 *      programs --+
 *                 +--> entries --> tools(), execute()    an allm_executor
 *      ...      --+
 *
 * Tools may be added at any time.  A list that was returned stays valid as long
 * as the toolbox.
 */
#define _XOPEN_SOURCE 700       /* realpath */
#include "toolbox/toolbox.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "tool/run.h"
#include "toolbox/needs.h"
#include "json/build.h"
#include "json/json.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCS = 16 };

/* ------------------------------------------------------------ executor --- */

static const struct entry_list *entries_of(const allm_toolbox *t)
{
    return atomic_load(&((allm_toolbox *)(uintptr_t)t)->list);
}

static const struct entry *find_entry(const struct entry_list *list,
                                      const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcmp(list->entries[i].tool->name, name))
            return &list->entries[i];
    return NULL;
}

static const allm_tool *const *list_tools(void *self, size_t *count)
{
    const struct entry_list *list = entries_of(self);
    *count = list->count;
    return list->tools;
}

static void execute_call(void *self, const allm_tool *tool, allm_tool_run *run,
                         const allm_json *args)
{
    const char *name = tool ? tool->name : allm_tool_run_call(run)->name;
    const struct entry *e = find_entry(entries_of(self), name);
    if (e)
        e->execute(self, e, run, args);
    else
        run_fail(run, FAILURE_NOT_FOUND, DETAIL_NO_EXECUTOR);
}

/* -------------------------------------------------------------- object --- */

static void close_toolbox(void *arg)
{
    allm_toolbox *t = arg;
    crew_free(t->crew);
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

static const allm_error *fill_toolbox(allm_toolbox *t,
                                      const allm_toolbox_opts *given)
{
    allm_toolbox_opts o;
    struct arena *a = home_arena(t->home);
    if (!caller_struct_take(&o, sizeof o, given))
        return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                            "the size of the options is wrong; fill them with "
                            "ALLM(toolbox_opts, ...)");
    if ((unsigned)o.sandbox > ALLM_SANDBOX_OFF)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_option",
                            "sandbox must be one of ALLM_SANDBOX_*");
    t->mode = (enum orders_mode)o.sandbox;
    t->crew = crew_new(home_mem(t->home), o.max_procs ? o.max_procs : PROCS);
    return t->crew ? resolve_root(t, o.root) : status_nomem();
}

/* The home is the object: the last reference closes it. */
allm_toolbox *allm_toolbox_new(const allm_toolbox_opts *opts)
{
    static const struct entry_list none = { 0 };
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
    t->faults_end = &t->faults;
    atomic_init(&t->list, &none);
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
    return t ? t->error : status_nomem();
}

const allm_executor *allm_toolbox_executor(allm_toolbox *t)
{
    return t ? &t->executor : NULL;
}

/* ------------------------------------------------------- adding tools --- */

const allm_error *toolbox_publish(allm_toolbox *t, size_t count,
                                  const struct entry *entries)
{
    struct arena *a = home_arena(t->home);
    const struct entry_list *old = entries_of(t);
    size_t n = old->count + count;
    struct entry_list *list = arena_alloc(a, sizeof *list);
    struct entry *all = arena_alloc(a, n * sizeof *all);
    const allm_tool **tools = arena_alloc(a, n * sizeof *tools);
    for (size_t i = 0; i < count; i++)
        if (find_entry(old, entries[i].tool->name))
            return status_error(a, ALLM_ERR_VALIDATION, "invalid_tool",
                                "%s: there is already a tool named %s",
                                entries[i].source, entries[i].tool->name);
    if (!list || !all || !tools)
        return status_nomem();
    for (size_t i = 0; i < n; i++) {
        all[i] = i < old->count ? old->entries[i] : entries[i - old->count];
        tools[i] = all[i].tool;
    }
    *list = (struct entry_list){ n, all, tools };
    atomic_store(&t->list, list);
    return NULL;
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
                                  .source = p->path };
        list[i].reach = needs_words(a, d->needs, p->dir);
    }
    return list && data ? toolbox_publish(t, p->count, list) : status_nomem();
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

static allm_status add_one(allm_toolbox *t, const char *path)
{
    struct arena *a = home_arena(t->home);
    struct program *p = arena_zero(a, sizeof *p);
    const allm_error *error = status_nomem();
    if (p) {
        *p = (struct program){ .path = arena_text(a, path), .dir = t->root,
                               .mode = t->mode };
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
        return ALLM_ERR_MISUSE;
    pthread_mutex_lock(&t->lock);
    allm_status status = add_path(t, path);
    pthread_mutex_unlock(&t->lock);
    return status;
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
    build_key(b, SLICE("timeout_ms"));
    build_uint(b, e->tool->timeout_ms);
    build_key(b, SLICE("reach"));
    build_value(b, e->reach ? e->reach : json_empty_array());
    build_end(b);
}

static void report_faults(struct build *b, const allm_toolbox *t)
{
    build_key(b, SLICE("failed"));
    build_array(b);
    for (const struct fault *f = t->faults; f; f = f->next) {
        build_object(b);
        build_text_at(b, "source", slice_of(f->source));
        build_text_at(b, "reason", slice_of(f->error->reason));
        build_text_at(b, "error", slice_of(f->error->message));
        build_end(b);
    }
    build_end(b);
}

allm_json *allm_toolbox_report(const allm_toolbox *given)
{
    static const char *const modes[] = { "on", "strict", "off" };
    allm_toolbox *t = (allm_toolbox *)(uintptr_t)given;
    struct allm_home *home = t ? home_new(home_mem(t->home), 4096) : NULL;
    struct arena scratch;
    struct build b;
    if (!home)
        return NULL;
    arena_init(&scratch, home_mem(t->home));
    build_init(&b, &scratch);
    pthread_mutex_lock(&t->lock);
    build_object(&b);
    build_text_at(&b, "root", slice_of(t->root ? t->root : ""));
    build_text_at(&b, "sandbox", slice_of(modes[t->mode]));
    build_key(&b, SLICE("tools"));
    build_array(&b);
    const struct entry_list *list = entries_of(t);
    for (size_t i = 0; i < list->count; i++)
        report_entry(&b, &list->entries[i]);
    build_end(&b);
    report_faults(&b, t);
    build_end(&b);
    const allm_json *copy = json_copy(home_arena(home), build_done(&b));
    pthread_mutex_unlock(&t->lock);
    arena_release(&scratch);
    return json_root_of(home, copy, copy ? NULL : status_nomem());
}
