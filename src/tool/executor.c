/* executor.c - the default executor, and compositions of several */
#include "tool/executor.h"

#include "base/mem.h"
#include "data/tool.h"
#include "tool/run.h"

static void call_tool_function(void *self, const allm_tool *tool,
                               allm_tool_run *r, const allm_json *args)
{
    (void)self;
    if (tool && tool->call)
        tool->call(r, args, tool->ud);
    else
        run_fail(r, FAILURE_NOT_FOUND, DETAIL_NO_FUNCTION);
}

static const allm_executor function = {
    .size = sizeof(allm_executor),
    .execute = call_tool_function,
};

const allm_executor *allm_executor_function(void)
{
    return &function;
}

struct composed {
    allm_executor table;        /* the public part */
    struct mem mem;
    size_t bytes;
    size_t count, tool_count;
    const allm_executor *const *parts;
    const allm_tool *const *tools;
};

static const allm_tool *const *offered_tools(const allm_executor *e,
                                             size_t *count)
{
    *count = 0;
    return e && MEM_REACHES(e, tools) && e->tools ? e->tools(e->self, count)
                                                  : NULL;
}

const allm_tool *executor_tool(const allm_executor *e, const char *name)
{
    size_t count;
    const allm_tool *const *tools = offered_tools(e, &count);
    return tools ? tool_find(count, tools, name) : NULL;
}

const allm_tool *const *executor_tools(const allm_executor *e, struct arena *a,
                                       const allm_tool *const *tools,
                                       size_t *count)
{
    size_t more, n = *count;
    const allm_tool *const *offered = offered_tools(e, &more);
    if (!more && tools)
        return tools;
    const allm_tool **all = arena_alloc(a, (n + more + 1) * sizeof *all);
    if (!all)
        return NULL;
    if (tools)
        memcpy(all, tools, n * sizeof *all);
    for (size_t i = 0; offered && i < more; i++)
        if (!tool_find(n, all, offered[i]->name))
            all[n++] = offered[i];
    *count = n;
    return all;
}

/* An executor that lists no tools accepts every call. */
static bool accepts_tool(const allm_executor *e, const char *name)
{
    return !MEM_REACHES(e, tools) || !e->tools || executor_tool(e, name);
}

static const allm_executor *pick_part(const struct composed *c,
                                      const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (accepts_tool(c->parts[i], name))
            return c->parts[i];
    return NULL;
}

static void execute_composed(void *self, const allm_tool *tool,
                             allm_tool_run *r, const allm_json *args)
{
    const allm_executor *e = pick_part(self, r->call->name);
    if (e)
        e->execute(e->self, tool, r, args);
    else
        run_fail(r, FAILURE_NOT_FOUND, DETAIL_NO_EXECUTOR);
}

static const allm_tool *const *composed_tools(void *self, size_t *count)
{
    const struct composed *c = self;
    *count = c->tool_count;
    return c->tools;
}

/* The first part that accepts the tool and has a recipe for it wins. */
static void composed_recipe(void *self, const char *name, allm_recipe *out)
{
    const struct composed *c = self;
    for (size_t i = 0; i < c->count && !out->fn; i++)
        if (accepts_tool(c->parts[i], name))
            *out = executor_recipe(c->parts[i], name);
}

allm_recipe executor_recipe(const allm_executor *e, const char *name)
{
    allm_recipe recipe = { .size = sizeof recipe };
    if (e && MEM_REACHES(e, recipe) && e->recipe)
        e->recipe(e->self, name, &recipe);
    return recipe;
}

const allm_executor *executor_pick(const allm_executor *e, const char *name,
                                   bool *known)
{
    *known = true;
    if (e && e->execute == execute_composed) {
        e = pick_part(e->self, name);
        *known = e != NULL;
    }
    return e && e->execute == call_tool_function ? NULL : e;
}

/* The parts of a composition; any other executor is its own only part, and NULL
 * has none. */
static const allm_executor *const *parts_of(
    const allm_executor *const *executors, size_t *count)
{
    *count = 0;
    if (!*executors)
        return executors;
    const struct composed *c = (*executors)->self;
    bool is_composed = (*executors)->execute == execute_composed;
    *count = is_composed ? c->count : 1;
    return is_composed ? c->parts : executors;
}

struct totals {
    size_t parts, tools;
};

static struct totals count_all(size_t count,
                               const allm_executor *const *executors)
{
    struct totals all = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        size_t parts, tools;
        parts_of(&executors[i], &parts);
        offered_tools(executors[i], &tools);
        all.parts += parts;
        all.tools += tools;
    }
    return all;
}

/* Flatten the list, so that a part is never a composition. */
static void copy_parts(struct composed *c, size_t count,
                       const allm_executor *const *executors)
{
    const allm_executor **part = (const allm_executor **)(void *)(c + 1);
    const allm_tool **tool = (const allm_tool **)(void *)(part + c->count);
    c->parts = part;
    c->tools = tool;
    for (size_t i = 0; i < count; i++) {
        size_t parts, tools;
        const allm_executor *const *own = parts_of(&executors[i], &parts);
        const allm_tool *const *offered = offered_tools(executors[i], &tools);
        for (size_t k = 0; k < parts; k++)
            *part++ = own[k];
        for (size_t k = 0; k < tools; k++)
            *tool++ = offered[k];
    }
}

allm_executor *allm_executor_compose(size_t count,
                                     const allm_executor *const *executors)
{
    struct totals all = count_all(count, executors);
    struct mem mem = mem_default();
    size_t bytes = sizeof(struct composed) +
                   (all.parts + all.tools) * sizeof(void *);
    struct composed *c = mem_alloc(mem, bytes);
    if (!c)
        return NULL;
    *c = (struct composed){
        .table = { .size = sizeof(allm_executor),
                   .self = c,
                   .execute = execute_composed,
                   .tools = composed_tools,
                   .recipe = composed_recipe },
        .mem = mem,
        .bytes = bytes,
        .count = all.parts,
        .tool_count = all.tools,
    };
    copy_parts(c, count, executors);
    return &c->table;
}

void allm_executor_free(allm_executor *e)
{
    if (!e || e->execute != execute_composed)
        return;
    struct composed *c = e->self;
    mem_free(c->mem, c, c->bytes);
}
