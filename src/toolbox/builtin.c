/*
 * builtin.c - the calls of built-in tools: worker threads, answers, failures
 *
 *      execute() --defer--> queue --> worker: check the arguments, open the
 *                                             root, run, answer
 *
 * Invariants
 *   (1) `calls` counts the calls whose done() has not begun; workers are
 *       released when it is 0.
 *   (2) A call does not use the toolbox, which may be freed meanwhile.
 */
#include "toolbox/builtin.h"

#include "base/file.h"
#include "base/status.h"
#include "base/utf8.h"
#include "tool/arguments.h"
#include "tool/run.h"
#include "json/build.h"
#include "json/json.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8 };

struct builtins {
    struct builtins_env env;
    pthread_mutex_t lock;       /* guards workers and calls */
    pthread_cond_t idle;
    struct workers workers;
    size_t calls;
    atomic_bool stopping;
    pthread_mutex_t writing;
};

struct builtins *builtins_new(const struct builtins_env *env)
{
    struct mem mem = env->mem;
    struct builtins *b = mem_alloc(mem, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct builtins){ .env = *env };
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_init(&b->writing, NULL);
    pthread_cond_init(&b->idle, NULL);
    workers_init(&b->workers, mem, THREADS, WORKERS_IDLE_NS, "allm-builtin");
    return b;
}

void builtins_free(struct builtins *b)
{
    if (!b)
        return;
    atomic_store(&b->stopping, true);
    pthread_mutex_lock(&b->lock);
    while (b->calls)
        pthread_cond_wait(&b->idle, &b->lock);
    pthread_mutex_unlock(&b->lock);
    workers_release(&b->workers);
    pthread_cond_destroy(&b->idle);
    pthread_mutex_destroy(&b->writing);
    pthread_mutex_destroy(&b->lock);
    mem_free(b->env.mem, b, sizeof *b);
}

struct builtins_env *builtins_env(struct builtins *b)
{
    return &b->env;
}

bool builtin_stopped(const struct builtin_call *c)
{
    return atomic_load(&c->owner->stopping) || allm_tool_cancelled(c->run);
}

/* -------------------------------------------------------------- answers --- */

/* True, and answered: the toolbox is being freed, so the answer is not whole.
 * A tool that writes is not interrupted, and its answer counts. */
static bool answer_freed(struct builtin_call *c)
{
    if (c->tool->writes || !atomic_load(&c->owner->stopping))
        return false;
    run_fail(c->run, FAILURE_EXIT, "the toolbox was freed");
    return true;
}

void builtin_answer_with(struct builtin_call *c, const allm_json *images)
{
    struct slice text = utf8_copy(&c->arena, buf_slice(&c->out));
    const allm_json *value = text.ptr ? build_alone(&c->arena, text) : NULL;
    if (answer_freed(c))
        return;
    if (c->arena.broken || !value)
        run_nomem(c->run);
    else
        run_answer(c->run, value, images);
}

void builtin_answer(struct builtin_call *c)
{
    builtin_answer_with(c, NULL);
}

__attribute__((format(printf, 2, 0))) static const char *
write_detail(struct builtin_call *c, const char *format, va_list args)
{
    struct buf b = buf_in(&c->arena, 64 * 1024);
    buf_vformat(&b, format, args);
    return utf8_copy(&c->arena, buf_slice(&b)).ptr;
}

void builtin_fail_as(struct builtin_call *c, const char *reason,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = write_detail(c, format, args);
    va_end(args);
    if (text)
        run_fail_copy(c->run, reason, text);
    else
        run_nomem(c->run);
}

void builtin_fail(struct builtin_call *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = write_detail(c, format, args);
    va_end(args);
    if (answer_freed(c))
        return;
    if (text)
        allm_tool_fail(c->run, text);
    else
        run_nomem(c->run);
}

static bool root_is_gone(const struct root *r)
{
    struct stat st, now;
    return fstat(r->fd, &st) || !st.st_nlink || stat(r->path, &now) ||
           st.st_ino != now.st_ino || st.st_dev != now.st_dev;
}

void builtin_path_fault(struct builtin_call *c, const char *path, int error)
{
    if (error == ENOMEM)
        run_nomem(c->run);
    else if (error == EXDEV)
        builtin_fail_as(c, "outside_root",
                        "%s is outside the root %s; use a path below it, and "
                        "no link that leads elsewhere",
                        path, c->root.path);
    else if (root_is_gone(&c->root))
        builtin_fail(c, "the root %s does not exist any more", c->root.path);
    else if (error == ENOTSUP)
        builtin_fail(c,
                     "%s is a device, a pipe or a socket, which tools do "
                     "not open",
                     path);
    else if (error == ENOKEY)
        builtin_fail(c,
                     "%s is one of the keys and private settings that no tool "
                     "may access",
                     path);
    else if (error == EISDIR)
        builtin_fail(c, "%s is a folder; list_directory shows what it contains",
                     path);
    else if (error == ENOENT)
        builtin_fail(c,
                     "there is no file or folder %s; list_directory and "
                     "glob find names",
                     path);
    else
        builtin_fail(c, "%s: %s", path, file_error_words(error));
}

/* ------------------------------------------------------------ arguments --- */

const char *builtin_text(const struct builtin_call *c, const char *key,
                         const char *standard)
{
    struct slice text = json_text_at(c->args, key);
    return text.ptr ? text.ptr : standard;
}

uint64_t builtin_number(const struct builtin_call *c, const char *key,
                        uint64_t standard)
{
    double n;
    if (!json_finite(json_at(c->args, key), &n) || n < 0)
        return standard;
    return n < 1e15 ? (uint64_t)n : UINT64_C(1000000000000000);
}

bool builtin_switch(const struct builtin_call *c, const char *key)
{
    return allm_json_true(json_at(c->args, key));
}

/* Texts of any bytes. */
static bool is_content(const allm_json *key)
{
    return json_is(key, "content") || json_is(key, "old_text") ||
           json_is(key, "new_text");
}

/* The others are used as C strings: a NUL would hide their rest. */
static bool has_nul(const allm_json *v)
{
    struct slice text = json_slice(v);
    return text.ptr && memchr(text.ptr, 0, text.len);
}

bool builtin_check(struct arena *a, const allm_tool_run *run,
                   const allm_tool *tool, const allm_json **args,
                   struct outcome *why)
{
    allm_tool_call call = *allm_tool_run_call(run);
    call.arguments = *args;
    call.raw_arguments = NULL;
    call.raw_len = 0;
    if (!arguments_check(a, &call, tool, true, args, why))
        return false;
    for (const allm_json *k = NULL; (k = allm_json_next(*args, k));)
        if (has_nul(allm_json_value(k)) && !is_content(k)) {
            *why = outcome_failed(a, FAILURE_ARGUMENTS, "%s contains a NUL",
                                  json_slice(k).ptr);
            return false;
        }
    return true;
}

static bool check_arguments(struct builtin_call *c)
{
    struct outcome why;
    if (builtin_check(&c->arena, c->run, c->declared, &c->args, &why))
        return true;
    if (why.kind == OUTCOME_NOMEM)
        run_nomem(c->run);
    else
        builtin_fail_as(c, why.reason, "%s", why.detail);
    return false;
}

/* ---------------------------------------------------------------- calls --- */

static void run_checked(struct builtin_call *c)
{
    int error = root_init(&c->root, &c->arena, c->root.path);
    if (error == ENOMEM) {
        run_nomem(c->run);
        return;
    }
    if (error) {
        builtin_fail(c, "the root %s cannot be opened: %s", c->root.path,
                     file_error_words(error));
        return;
    }
    c->root.by_steps = c->owner->env.by_steps;
    if (c->tool->writes)
        pthread_mutex_lock(&c->owner->writing);
    c->tool->run(c);
    if (c->tool->writes)
        pthread_mutex_unlock(&c->owner->writing);
    root_release(&c->root);
}

static void run_builtin(struct job *job)
{
    struct builtin_call *c = (struct builtin_call *)(void *)job;
    if (atomic_load(&c->owner->stopping))
        run_fail(c->run, FAILURE_EXIT, "the toolbox was freed");
    else if (check_arguments(c))
        run_checked(c);
    allm_tool_run_free(c->run);
}

static void free_builtin_call(struct builtin_call *c)
{
    struct mem mem = c->owner->env.mem;
    arena_release(&c->arena);
    mem_free(mem, c, sizeof *c);
}

static void builtin_done(struct job *job)
{
    struct builtin_call *c = (struct builtin_call *)(void *)job;
    struct builtins *b = c->owner;
    free_builtin_call(c);
    pthread_mutex_lock(&b->lock);
    if (!--b->calls)            /* keeps (1) */
        pthread_cond_broadcast(&b->idle);
    pthread_mutex_unlock(&b->lock);
}

static struct builtin_call *make_call(const struct entry *e,
                                      const allm_json *args)
{
    const struct builtin_entry *mine = e->data;
    struct builtins *b = mine->builtins;
    struct builtin_call *c = mem_alloc(b->env.mem, sizeof *c);
    if (!c)
        return NULL;
    *c =
        (struct builtin_call){ .job = { run_builtin, builtin_done, NULL,
                                         NULL },
                                .owner = b,
                                .tool = mine->tool,
                                .declared = e->tool };
    arena_init(&c->arena, b->env.mem);
    buf_init(&c->out, &c->arena, SIZE_MAX / 2);
    c->root.path = arena_text(&c->arena, b->env.root);
    c->args = json_copy(&c->arena, args ? args : json_empty_object());
    if (c->root.path && c->args)
        return c;
    free_builtin_call(c);
    return NULL;
}

static int submit_call(struct builtins *b, struct builtin_call *c)
{
    pthread_mutex_lock(&b->lock);
    b->calls++;
    int error = workers_submit(&b->workers, &c->job);
    if (error)
        b->calls--;
    pthread_mutex_unlock(&b->lock);
    return error;
}

static void execute_builtin(allm_toolbox *t, const struct entry *e,
                            allm_tool_run *run, const allm_json *args)
{
    struct builtin_call *c = make_call(e, args);
    (void)t;
    allm_tool_run *mine = c ? allm_tool_defer(run) : NULL;
    if (c)
        c->run = mine;
    if (!mine) {
        if (c)
            free_builtin_call(c);
        run_nomem(run);
        return;
    }
    int error = submit_call(c->owner, c);
    if (!error)
        return;                 /* the worker may have freed it */
    run_fail(mine, FAILURE_EXIT,
             error == ENOMEM ? "out of memory"
                             : "no thread could be started for the tool; raise "
                               "the limit (ulimit -u)");
    allm_tool_run_free(mine);
    free_builtin_call(c);
}

/* --------------------------------------------------------------- adding --- */

const allm_json *builtin_reach(struct arena *a, const char *verb,
                               const char *what)
{
    struct buf word = buf_in(a, 8192);
    buf_text(&word, verb);
    buf_byte(&word, ' ');
    buf_text(&word, what);
    struct build b = build_array_in(a);
    build_text(&b, buf_slice(&word));
    return word.broken ? NULL : build_finish(&b);
}

static const allm_error *make_entry(struct builtins *b, struct allm_home *home,
                                    const struct builtin *row,
                                    struct entry *out)
{
    struct arena *a = home_arena(home);
    struct builtin_entry *mine = arena_alloc(a, sizeof *mine);
    allm_tool *tool = allm_tool_new(
        ALLM(tool, .name = row->name, .description = row->description,
             .schema_text = row->schema, .effect = row->effect,
             .timeout_ms = row->timeout_ms,
             .flags = ALLM_TOOL_INLINE | ALLM_TOOL_OWN_TIME));
    const allm_error *why = describe_keep_tool(home, tool);
    if (why || !mine)
        return why ? why : status_nomem();
    *mine = (struct builtin_entry){ row, b };
    *out = (struct entry){ .tool = tool,
                           .execute = row->execute ? row->execute
                                                   : execute_builtin,
                           .data = mine,
                           .kind = "builtin",
                           .source = "built-in",
                           .process = row->execute != NULL,
                           .call_reach = row->reach };
    if (row->reach)
        return NULL;
    out->reach = builtin_reach(a, row->writes ? "write" : "read", b->env.root);
    return out->reach ? NULL : status_nomem();
}

static unsigned group_named(struct slice name)
{
    return slice_is(name, "read")   ? BUILTIN_READ
           : slice_is(name, "code") ? BUILTIN_CODE
           : slice_is(name, "web")  ? BUILTIN_WEB
           : slice_is(name, "all")  ? BUILTIN_CODE | BUILTIN_WEB
                                    : 0;
}

/* Mark the tools of one name; false: there is none. */
static bool mark_named(struct slice name, bool *wanted)
{
    size_t count;
    const struct builtin *list = builtin_list(&count);
    unsigned group = group_named(name);
    bool found = false;
    for (size_t i = 0; i < count; i++)
        if ((list[i].groups & group) || slice_is(name, list[i].name))
            wanted[i] = found = true;
    return found;
}

static const allm_error *refuse_name(struct arena *a, struct slice name)
{
    size_t count;
    const struct builtin *list = builtin_list(&count);
    struct buf names = buf_in(a, 1024);
    for (size_t i = 0; i < count; i++)
        buf_format(&names, "%s%s", i ? ", " : "", list[i].name);
    return status_error(a, ALLM_ERR_VALIDATION, "invalid_tool",
                        "there is no built-in tool \"%.*s\"; the tools are %s, "
                        "and the groups are read, code, web and all",
                        (int)(name.len < 100 ? name.len : 100), name.ptr,
                        names.ptr ? names.ptr : "");
}

static const allm_error *mark_all(struct arena *a, const char *names,
                                  bool *wanted)
{
    struct slice rest = slice_of(names);
    if (!slice_strip(rest).len)
        return refuse_name(a, SLICE(""));
    while (rest.len) {
        struct slice name = slice_strip(slice_take(&rest, ','));
        if (!mark_named(name, wanted))
            return refuse_name(a, name);
    }
    return NULL;
}

const allm_error *builtin_read(struct builtins *b, struct allm_home *home,
                               const char *names, struct entry **list,
                               size_t *count)
{
    bool wanted[32] = { false };
    struct arena *a = home_arena(home);
    size_t all;
    const struct builtin *rows = builtin_list(&all);
    const allm_error *error = mark_all(a, names, wanted);
    *count = 0;
    *list = error ? NULL : arena_zero(a, all * sizeof **list);
    if (!error && !*list)
        error = status_nomem();
    for (size_t i = 0; !error && i < all; i++)
        if (wanted[i])
            error = make_entry(b, home, &rows[i], &(*list)[(*count)++]);
    return error;
}
