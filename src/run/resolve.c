/* resolve.c - resolve the fields of a request: call, request, engine */
#include "run/resolve.h"

#include "base/status.h"
#include "data/tool.h"

const allm_error *resolve_copy_tools(struct allm_home *home, size_t count,
                                     const allm_tool *const **tools)
{
    const allm_error *error = NULL;
    const allm_tool **mine = arena_zero(home_arena(home),
                                        (count + 1) * sizeof *mine);
    for (size_t i = 0; mine && i < count; i++) {
        mine[i] = shape_copy(home, &tool_shape, (*tools)[i], &error);
        if (!mine[i])
            return error ? error : status_nomem();
    }
    *tools = mine;
    return mine ? NULL : status_nomem();
}

static void choose_model(allm_request *r, const allm_engine *e,
                         const struct options *o)
{
    if (o->model)
        r->model_ref = NULL;
    if (!r->model_ref)
        r->model = engine_model(e, o, r->model);
}

static void choose_numbers(allm_request *r, const struct options *o,
                           const struct options *d)
{
    if (o->temperature.set)
        r->temperature = o->temperature;
    else if (!r->temperature.set)
        r->temperature = d->temperature;
    if (o->max_tokens.set)
        r->max_tokens = o->max_tokens;
    else if (!r->max_tokens.set)
        r->max_tokens = d->max_tokens;
}

/* A string and a map are two forms of the same field. */
static void choose_tool_choice(allm_request *r, const struct options *o,
                               const struct options *d)
{
    const struct options *from = o->tool_choice || o->tool_choice_map ? o : d;
    if (from == d && (r->tool_choice || r->tool_choice_map))
        return;
    r->tool_choice = from->tool_choice;
    r->tool_choice_map = from->tool_choice_map;
}

void resolve_fields(allm_request *r, const allm_engine *e,
                    const struct options *o, const struct options *d)
{
    choose_model(r, e, o);
    choose_numbers(r, o, d);
    choose_tool_choice(r, o, d);
    if (o->response_format)
        r->response_format = o->response_format;
    else if (!r->response_format)
        r->response_format = d->response_format;
}

const allm_error *resolve_request(allm_request *r, const allm_engine *e,
                                  const struct options *o,
                                  const struct options *d,
                                  struct allm_home *home)
{
    resolve_fields(r, e, o, d);
    if (r->tools && !o->has_tools)
        return NULL;
    if (!engine_tools(e, o, home_arena(home), &r->tool_count, &r->tools))
        return status_nomem();
    return o->has_tools ? resolve_copy_tools(home, r->tool_count, &r->tools)
                        : NULL;
}
