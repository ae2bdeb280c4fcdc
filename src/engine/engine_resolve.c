/* engine_resolve.c - combine an engine with the options of a call */
#include "engine/engine.h"

#include "base/status.h"
#include "data/encode.h"
#include "data/engine_record.h"
#include "data/model_ref.h"
#include "engine/catalog.h"
#include "json/build.h"
#include "json/json.h"

/* The options of a call, read without making the call.  If they are invalid,
 * the result carries the error. */
struct query {
    struct allm_home *home;
    struct arena *arena;        /* the home's */
    struct options options;
    const allm_error *error;
};

static bool query_begin(struct query *q, const allm_engine *e,
                        const allm_call_opts *opts)
{
    if (!e)
        return false;
    q->home = home_new(engine_core(e)->mem, 256);
    if (!q->home)
        return false;
    q->arena = home_arena(q->home);
    q->error = allm_engine_error(e) ? allm_engine_error(e)
                                    : options_read(&q->options, q->home, opts);
    return true;
}

/* The result as a root, or a root with the error. */
static allm_json *query_finish(struct query *q, const allm_json *v)
{
    allm_json *root = NULL;
    if (q->error && q->error->kind != ALLM_ERR_NOMEM) {
        root = json_root(q->arena->mem, NULL);
        if (root)
            home_set_error(json_home(root),
                           status_retell(home_arena(json_home(root)),
                                         q->error));
    } else if (v) {
        root = json_root(q->arena->mem, v);
    }
    home_drop(q->home);
    return root;
}

allm_json *allm_engine_resolve_params(const allm_engine *e,
                                      const allm_call_opts *opts)
{
    struct query q;
    if (!query_begin(&q, e, opts))
        return NULL;
    return query_finish(&q,
                        q.error ? NULL : engine_params(e, &q.options, q.arena));
}

allm_json *allm_engine_resolve_model(const allm_engine *e,
                                     const allm_call_opts *opts)
{
    struct query q;
    const allm_error *error = NULL;
    if (!query_begin(&q, e, opts))
        return NULL;
    if (q.error)
        return query_finish(&q, NULL);
    const char *name = engine_model(e, &q.options, NULL);
    const allm_model_ref *ref;
    if (!catalog_find(engine_core(e)->catalog, name, &ref))
        return query_finish(&q, NULL);
    if (ref)
        return query_finish(&q, encode_to_json(q.arena, &model_ref_shape, ref,
                                               ALLM_FORM_PLAIN, &error));
    struct build b = build_in(q.arena);
    build_text_or_null(&b, name);
    return query_finish(&q, build_done(&b));
}

/* A new root: the engine's record with other tools. */
static allm_engine_record *record_with(const allm_engine *e, size_t count,
                                       const allm_tool *const *tools)
{
    allm_engine_record fields = *engine_record(e);
    fields.home = NULL;
    fields.tools = tools;
    fields.tool_count = count;
    return allm_engine_record_new(&fields);
}

allm_engine_record *allm_engine_resolve_tools(const allm_engine *e,
                                              const allm_call_opts *opts)
{
    struct query q;
    size_t n = 0;
    const allm_tool *const *tools = NULL;
    allm_engine_record *record = NULL;
    if (!query_begin(&q, e, opts))
        return NULL;
    if (!q.error)
        q.error = options_tools(&q.options, q.home);
    if (!q.error && engine_tools(e, &q.options, q.arena, &n, &tools))
        record = record_with(e, n, tools);
    else if (q.error && q.error->kind != ALLM_ERR_NOMEM)
        record = shape_failed(&engine_record_shape, q.error);
    home_drop(q.home);
    return record;
}
