/* plan.c - the steps of a recipe, collected by allm_plan_*() */
#include "tool/plan.h"

#include "json/json.h"

static void append_step(struct allm_plan *p, struct plan_list *list,
                        struct plan_step step)
{
    struct plan_step *mine = arena_alloc(p->arena, sizeof *mine);
    if (!mine) {
        p->broken = true;
        return;
    }
    step.label = arena_text(p->arena, step.label ? step.label : step.tool);
    step.tool = arena_text(p->arena, step.tool);
    step.args = step.args ? json_copy(p->arena, step.args)
                          : json_empty_object();
    *mine = step;
    if (!mine->label || !mine->tool || !mine->args)
        p->broken = true;
    if (!list->last)
        list->last = &list->first;
    *list->last = mine;
    list->last = &mine->next;
    list->count++;
}

/* A step without a tool makes the whole plan fail. */
static void add_step(struct allm_plan *p, bool serial, struct plan_step step)
{
    if (p && step.tool)
        append_step(p, serial ? &p->serial : &p->parallel, step);
    else if (p && !p->failed)
        p->failed = "a step of the plan has no tool";
}

void allm_plan_serial(allm_plan *p, const char *tool, const char *label,
                      const allm_json *args)
{
    add_step(p, true,
             (struct plan_step){ .tool = tool, .label = label, .args = args });
}

void allm_plan_serial_fn(allm_plan *p, const char *tool, const char *label,
                         allm_plan_args_fn fn, void *ud)
{
    add_step(p, true,
             (struct plan_step){
                 .tool = tool, .label = label, .args_fn = fn, .ud = ud });
}

void allm_plan_parallel(allm_plan *p, const char *tool, const char *label,
                        const allm_json *args)
{
    add_step(p, false,
             (struct plan_step){ .tool = tool, .label = label, .args = args });
}

void allm_plan_parallel_fn(allm_plan *p, const char *tool, const char *label,
                           allm_plan_args_fn fn, void *ud)
{
    add_step(p, false,
             (struct plan_step){
                 .tool = tool, .label = label, .args_fn = fn, .ud = ud });
}

void allm_plan_compose(allm_plan *p, allm_plan_compose_fn fn, void *ud)
{
    if (!p)
        return;
    p->compose = fn;
    p->compose_ud = ud;
}

void allm_plan_fail(allm_plan *p, const char *why)
{
    if (!p || p->failed)
        return;
    p->failed = arena_text(p->arena, why ? why : "the recipe gave no reason");
    if (!p->failed)
        p->broken = true;
}
