/* collector.c - the public handle of a fold, for events from any source */
#include "allm.h"

#include "base/status.h"
#include "data/chat_result.h"
#include "data/event.h"
#include "data/step_result.h"
#include "run/collect.h"

struct allm_collector {
    struct mem mem;
    struct collect fold;
};

allm_collector *allm_collector_new(const allm_thread *thread)
{
    struct mem mem = mem_default();
    allm_collector *c = mem_alloc(mem, sizeof *c);
    if (!c)
        return NULL;
    *c = (allm_collector){ .mem = mem };
    struct allm_home *home = home_new(mem, 0);
    bool made = home && collect_init(&c->fold, home, thread);
    home_drop(home);            /* The fold holds a reference now. */
    if (made)
        return c;
    allm_collector_free(c);
    return NULL;
}

const allm_error *allm_collector_error(const allm_collector *c)
{
    return c && !c->fold.broken ? NULL : status_nomem();
}

void allm_collector_free(allm_collector *c)
{
    if (!c)
        return;
    collect_release(&c->fold);
    mem_free(c->mem, c, sizeof *c);
}

allm_status allm_collector_add(allm_collector *c, const allm_event *event)
{
    if (!c || !event)
        return ALLM_ERR_NOMEM;
    /* A caller's own struct is normalised first. */
    const allm_error *error = NULL;
    struct arena scratch = arena_in(c->mem);
    allm_event *mine = shape_keep(&event_shape, event, c->mem, &scratch,
                                  &error);
    allm_status status = mine ? collect_add(&c->fold, mine) : error->kind;
    allm_event_free(mine);
    arena_release(&scratch);
    return status;
}

allm_response *allm_collector_response(const allm_collector *c)
{
    return c ? collect_response(&c->fold, NULL) : NULL;
}

static const allm_error no_thread =
    STATUS_ERROR(ALLM_ERR_MISUSE, "no_thread",
                 "this collector has no thread; create it with "
                 "allm_collector_new(thread), or use its response instead");

/* Has no event come since the last step ended? */
static bool is_between_steps(const struct collect *f)
{
    return f->steps && !f->text.len && !f->reasoning.len && !f->calls &&
           !f->last_message && !f->results && !f->halt &&
           f->finish_reason == ALLM_FINISH_NONE;
}

allm_step_result *allm_collector_step_result(const allm_collector *c)
{
    if (!c)
        return NULL;
    if (is_between_steps(&c->fold))
        return allm_step_result_new(collect_last_step(&c->fold)->step);
    return c->fold.thread ? collect_step_result(&c->fold)
                          : shape_failed(&step_result_shape, &no_thread);
}

allm_chat_result *allm_collector_chat_result(const allm_collector *c)
{
    if (!c)
        return NULL;
    return c->fold.thread || c->fold.chat_result
               ? collect_chat_result(&c->fold)
               : shape_failed(&chat_result_shape, &no_thread);
}
