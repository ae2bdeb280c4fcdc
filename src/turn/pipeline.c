/*
 * pipeline.c - the stages of a turn, and the function that runs them
 *
 * A pipeline is an immutable, reference-counted array of stages.  Only
 * pipeline_run() knows when to skip a stage:
 *
 *   (1) if the context has an error, unless the stage has ON_ERROR;
 *   (2) if the context is decided, unless the stage has ON_DECIDED.
 */
#include "turn/pipeline.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/error.h"

#include <stdatomic.h>
#include <stdint.h>

struct allm_pipeline {
    struct mem mem;
    size_t size;
    atomic_size_t users;
    const allm_error *error;    /* static */
    size_t count;
    allm_stage stage[];         /* followed by the names of the stages */
};

static const allm_error no_such_stage =
    STATUS_ERROR(ALLM_ERR_MISUSE, "unknown_stage",
                 "the pipeline has no stage of that name; see "
                 "allm_pipeline_name() for the names");

static const allm_error same_name = STATUS_ERROR(
    ALLM_ERR_MISUSE, "duplicate_stage",
    "the pipeline already has a stage of that name; replace it, or "
    "choose another name");

static const allm_error no_stage =
    STATUS_ERROR(ALLM_ERR_MISUSE, "invalid_stage",
                 "a stage needs its size, a name and a function: fill it with "
                 "ALLM(stage, .name = ..., .run = ...)");

#define STAGE(id) { .size = sizeof(allm_stage), .name = #id, \
                    .run = id##_run }

static const allm_stage stock[] = {
    STAGE(parse),    STAGE(validate), STAGE(budget),
    STAGE(dispatch), STAGE(inject),   STAGE(decide),
};

static size_t names_size(size_t count, const allm_stage *stages)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += strlen(stages[i].name) + 1;
    return n;
}

static allm_pipeline *make_pipeline(size_t count, const allm_stage *stages,
                                    const allm_error *error)
{
    struct mem mem = mem_default();
    size_t head = sizeof(allm_pipeline) + count * sizeof *stages;
    size_t size = head + names_size(count, stages);
    allm_pipeline *p = mem_alloc(mem, size);
    if (!p)
        return NULL;
    *p = (allm_pipeline){ .mem = mem, .size = size, .count = count,
                          .error = error };
    atomic_init(&p->users, 1);
    char *name = (char *)p + head;
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(stages[i].name) + 1;
        p->stage[i] = stages[i];
        p->stage[i].name = memcpy(name, stages[i].name, n);
        name += n;
    }
    return p;
}

allm_pipeline *allm_pipeline_new(void)
{
    return make_pipeline(sizeof stock / sizeof *stock, stock, NULL);
}

allm_pipeline *allm_pipeline_keep(const allm_pipeline *p)
{
    allm_pipeline *mine = (allm_pipeline *)(uintptr_t)p;
    if (mine)
        atomic_fetch_add_explicit(&mine->users, 1, memory_order_relaxed);
    return mine;
}

void allm_pipeline_free(allm_pipeline *p)
{
    if (p && atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) == 1)
        mem_free(p->mem, p, p->size);
}

const allm_error *allm_pipeline_error(const allm_pipeline *p)
{
    return p ? p->error : status_nomem();
}

size_t allm_pipeline_count(const allm_pipeline *p)
{
    return p ? p->count : 0;
}

const char *allm_pipeline_name(const allm_pipeline *p, size_t index)
{
    return p && index < p->count ? p->stage[index].name : NULL;
}

static size_t find_stage(const allm_pipeline *p, const char *name)
{
    size_t i = 0;
    while (i < p->count && strcmp(p->stage[i].name, name) != 0)
        i++;
    return i;
}

/* Copy the caller's stage; false: it is not one. */
static bool take_stage(allm_stage *mine, const allm_stage *given)
{
    return given && caller_struct_take(mine, sizeof *mine, given) &&
           MEM_REACHES(given, ud) && mine->name && *mine->name && mine->run;
}

static allm_pipeline *fail_pipeline(const allm_pipeline *p,
                                    const allm_error *error)
{
    return make_pipeline(p->count, p->stage, p->error ? p->error : error);
}

/* The stages before `at`, then `stage` (or none), then those from `next`. */
static allm_pipeline *splice_stages(const allm_pipeline *p, size_t at,
                                    const allm_stage *stage, size_t next)
{
    struct arena a = arena_in(p->mem);
    allm_stage *list = arena_alloc(&a, (p->count + 1) * sizeof *list);
    size_t n = at;
    allm_pipeline *made = NULL;
    if (list) {
        memcpy(list, p->stage, at * sizeof *list);
        if (stage)
            list[n++] = *stage;
        memcpy(list + n, p->stage + next, (p->count - next) * sizeof *list);
        n += p->count - next;
        made = make_pipeline(n, list, p->error);
    }
    arena_release(&a);
    return made;
}

allm_pipeline *allm_pipeline_insert(const allm_pipeline *p, const char *before,
                                    const allm_stage *stage)
{
    allm_stage mine;
    if (!p)
        return NULL;
    size_t at = before ? find_stage(p, before) : p->count;
    if (!take_stage(&mine, stage))
        return fail_pipeline(p, &no_stage);
    if (before && at == p->count)
        return fail_pipeline(p, &no_such_stage);
    if (find_stage(p, mine.name) < p->count)
        return fail_pipeline(p, &same_name);
    return splice_stages(p, at, &mine, at);
}

allm_pipeline *allm_pipeline_replace(const allm_pipeline *p, const char *name,
                                     const allm_stage *stage)
{
    allm_stage mine;
    if (!p)
        return NULL;
    size_t at = name ? find_stage(p, name) : p->count;
    if (!take_stage(&mine, stage))
        return fail_pipeline(p, &no_stage);
    if (at == p->count)
        return fail_pipeline(p, &no_such_stage);
    size_t same = find_stage(p, mine.name);
    if (same < p->count && same != at)
        return fail_pipeline(p, &same_name);
    return splice_stages(p, at, &mine, at + 1);
}

allm_pipeline *allm_pipeline_remove(const allm_pipeline *p, const char *name)
{
    if (!p)
        return NULL;
    size_t at = name ? find_stage(p, name) : p->count;
    return at == p->count ? fail_pipeline(p, &no_such_stage)
                          : splice_stages(p, at, NULL, at + 1);
}

static bool is_skipped(const allm_stage *s, const allm_context *c)
{
    bool decided = c->decision != ALLM_DECISION_NONE;
    if (c->status != ALLM_OK)
        return !(s->flags & ALLM_STAGE_ON_ERROR);
    return decided && !(s->flags & ALLM_STAGE_ON_DECIDED);
}

/* Record the error of a stage that failed; create one if it set none. */
static allm_status fail_stage(allm_context *c, const allm_stage *s,
                              allm_status status)
{
    const allm_error *e = c->error;
    if (status == ALLM_ERR_NOMEM || c->broken) {
        c->error = status_nomem();
        c->status = ALLM_ERR_NOMEM;
        return ALLM_ERR_NOMEM;
    }
    if (!e)
        e = status_error(c->arena, ALLM_ERR_ENGINE, REASON_PIPELINE,
                         "stage %s failed with status %s and set no error",
                         s->name, allm_status_name(status));
    c->error = e;
    c->status = e->kind;
    context_decide(c, ALLM_DECISION_ERROR, REASON_PIPELINE);
    return c->status;
}

allm_status pipeline_run(const allm_pipeline *p, allm_context *c, size_t *at)
{
    size_t count = p ? p->count : sizeof stock / sizeof *stock;
    const allm_stage *stages = p ? p->stage : stock;
    for (; *at < count; ++*at) {
        const allm_stage *s = &stages[*at];
        if (is_skipped(s, c))
            continue;
        c->stage = s;
        c->again_ns = INT64_MAX;
        allm_status status = s->run(c, s->ud);
        if (c->broken || c->arena->broken)
            status = ALLM_ERR_NOMEM;
        if (status < 0) {
            ++*at;              /* stages with ON_ERROR follow */
            return fail_stage(c, s, status);
        }
        if (status != ALLM_OK)
            return status;
    }
    return ALLM_OK;
}
