/* plan.h - the steps of a recipe, collected by allm_plan_*() */
#pragma once

#include "allm.h"
#include "base/arena.h"

struct plan_step {
    struct plan_step *next;
    const char *tool, *label;
    const allm_json *args;              /* or args_fn */
    allm_plan_args_fn args_fn;
    void *ud;
};

struct plan_list {
    struct plan_step *first, **last;
    size_t count;
};

struct allm_plan {
    struct arena *arena;
    struct plan_list serial, parallel;
    allm_plan_compose_fn compose;
    void *compose_ud;
    const char *failed;                 /* why there is no plan, or NULL */
    bool broken;                        /* memory ran out */
};
