/* bash.c - the tool bash: a command for the shell, in the sandbox */
#include "base/status.h"
#include "tool/run.h"
#include "toolbox/answer.h"
#include "toolbox/builtin.h"
#include "toolbox/needs.h"
#include "json/build.h"
#include "json/json.h"

#include <unistd.h>

enum { TIMEOUT_S = 120 };

static uint64_t seconds_of(const allm_json *args)
{
    double s = TIMEOUT_S;
    json_finite(json_at(args, "timeout"), &s);
    return s < 1 ? 1 : (uint64_t)s;
}

/* The requested reach, as a program would declare it. */
static const allm_json *needs_of(struct arena *a, const char *root,
                                 const allm_json *args, bool limits)
{
    struct build b = build_object_in(a);
    if (allm_json_true(json_at(args, "write"))) {
        build_array_at(&b, "write");
        build_text(&b, slice_of(root));
        build_end(&b);
    }
    if (allm_json_true(json_at(args, "net")))
        build_bool_at(&b, "net", true);
    if (limits)
        build_uint_at(&b, "seconds", seconds_of(args) + 1);
    return build_finish(&b);
}

const allm_json *bash_reach(allm_toolbox *t, const struct entry *e,
                            const allm_json *args, struct arena *a)
{
    const struct builtin_entry *mine = e->data;
    const char *root = builtins_env(mine->builtins)->root;
    const allm_json *needs = needs_of(a, root, args, false);
    (void)t;
    return needs ? needs_words(a, needs) : NULL;
}

static const char *find_shell(void)
{
    return !access("/bin/bash", X_OK)       ? "/bin/bash"
           : !access("/usr/bin/bash", X_OK) ? "/usr/bin/bash"
                                            : "/bin/sh";
}

/* Everything but the process itself is checked here. */
static const allm_error *start_shell(const struct entry *e, allm_tool_run *run,
                                     const allm_json *args, struct arena *a)
{
    const struct builtin_entry *mine = e->data;
    const struct builtins_env *env = builtins_env(mine->builtins);
    struct crew_shell shell = {
        .program = { .path = find_shell(), .dir = env->root,
                     .mode = env->mode },
        .tool = { .tool = (allm_tool *)(uintptr_t)e->tool,
                  .needs = needs_of(a, env->root, args, true) },
        .command = json_text_at(args, "command").ptr,
        .timeout_ms = (uint32_t)seconds_of(args) * 1000,
    };
    if (!shell.tool.needs)
        return status_nomem();
    const allm_error *why = needs_check(a, &shell.tool.needs, env->root, NULL);
    if (!why)
        crew_shell(env->crew, &shell, run);
    return why;
}

void bash_execute(allm_toolbox *t, const struct entry *e, allm_tool_run *run,
                  const allm_json *args)
{
    const struct builtin_entry *mine = e->data;
    struct outcome o;
    (void)t;
    struct arena scratch = arena_in(builtins_env(mine->builtins)->mem);
    if (!builtin_check(&scratch, run, e->tool, &args, &o)) {
        if (run_claim(run) == RUN_MINE)
            run_publish(run, outcome_copy(&run->memory, &o));
    } else {
        const allm_error *why = start_shell(e, run, args, &scratch);
        if (why)
            answer_fault(run, why);
    }
    arena_release(&scratch);
}
