/* builtin.h - the tools that the toolbox itself is, and the calls of them */
#pragma once

#include "base/buf.h"
#include "loop/workers.h"
#include "net/client.h"
#include "tool/outcome.h"
#include "toolbox/crew.h"
#include "toolbox/entry.h"
#include "toolbox/root.h"

struct builtin_call;

/* The groups of names. */
enum builtin_group { BUILTIN_READ = 1, BUILTIN_CODE = 2, BUILTIN_WEB = 4 };

/* One tool. */
struct builtin {
    const char *name, *description, *schema;
    allm_effect effect;
    unsigned groups;
    uint32_t timeout_ms;
    bool writes;                /* calls of such tools do not overlap */
    void (*run)(struct builtin_call *c);        /* in a worker; or NULL: */
    void (*execute)(allm_toolbox *t, const struct entry *e, allm_tool_run *run,
                    const allm_json *args);     /* as in struct entry */
    const allm_json *(*reach)(allm_toolbox *t, const struct entry *e,
                              const allm_json *args, struct arena *a);
};

/* The data of an entry. */
struct builtin_entry {
    const struct builtin *tool;
    struct builtins *builtins;
};

/* All of them; `count` is set. */
const struct builtin *builtin_list(size_t *count);

/* What they share; not changed after the first call. */
struct builtins_env {
    struct mem mem;
    const char *root;
    struct crew *crew;
    enum orders_mode mode;
    struct client_opts net;     /* of http_get */
    bool by_steps;              /* for tests: open files by steps */
};

/* The threads in which they run.  NULL: out of memory.  Freeing it waits for
 * the calls that run, which end soon. */
struct builtins *builtins_new(const struct builtins_env *env);
void builtins_free(struct builtins *b);
struct builtins_env *builtins_env(struct builtins *b);

/* The entries of a list of names and groups: "code,http_get", in the home.
 * NULL, or the error. */
const allm_error *builtin_read(struct builtins *b, struct allm_home *home,
                               const char *names, struct entry **list,
                               size_t *count);

/* ---------------------------------------------------------------- calls --- */

enum { BUILTIN_OUT = 1 << 20 }; /* a result has at most about so many bytes */

/* A call in a worker.  The function answers it exactly once. */
struct builtin_call {
    struct job job;             /* must be the first */
    struct builtins *owner;
    const struct builtin *tool;
    const allm_tool *declared;
    struct root root;
    allm_tool_run *run;         /* deferred; a root */
    const allm_json *args;      /* checked against the schema */
    struct arena arena;
    struct buf out;             /* the text of the result */
};

/* Nobody waits for the answer any more, or the toolbox is being freed. */
bool builtin_stopped(const struct builtin_call *c);

/* Answer: with the text of c->out, and images as in struct outcome (NULL:
 * none); or with a failure that the model sees, as
 * handler_failed or for another reason. */
void builtin_answer(struct builtin_call *c);
void builtin_answer_with(struct builtin_call *c, const allm_json *images);
void builtin_fail(struct builtin_call *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void builtin_fail_as(struct builtin_call *c, const char *reason,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an errno of root.h. */
void builtin_path_fault(struct builtin_call *c, const char *path, int error);

/* Check arguments against the schema of a tool.  True: *args is an object whose
 * strings have no NUL, but for "content" and texts of edits.  False: *why. */
bool builtin_check(struct arena *a, const allm_tool_run *run,
                   const allm_tool *tool, const allm_json **args,
                   struct outcome *why);

/* Members of the arguments: a string ("" or the default if it is absent), a
 * number, a switch. */
const char *builtin_text(const struct builtin_call *c, const char *key,
                         const char *standard);
uint64_t builtin_number(const struct builtin_call *c, const char *key,
                        uint64_t standard);
bool builtin_switch(const struct builtin_call *c, const char *key);

/* Words of reach. */
const allm_json *builtin_reach(struct arena *a, const char *verb,
                               const char *what);

/* The functions of the tools. */
void read_file_run(struct builtin_call *c);
void file_info_run(struct builtin_call *c);
void list_directory_run(struct builtin_call *c);
void tree_run(struct builtin_call *c);
void glob_run(struct builtin_call *c);
void grep_run(struct builtin_call *c);
void write_file_run(struct builtin_call *c);
void append_to_file_run(struct builtin_call *c);
void edit_file_run(struct builtin_call *c);
void multi_edit_run(struct builtin_call *c);
void http_get_run(struct builtin_call *c);
const allm_json *http_get_reach(allm_toolbox *t, const struct entry *e,
                                const allm_json *args, struct arena *a);
void bash_execute(allm_toolbox *t, const struct entry *e, allm_tool_run *run,
                  const allm_json *args);
const allm_json *bash_reach(allm_toolbox *t, const struct entry *e,
                            const allm_json *args, struct arena *a);
