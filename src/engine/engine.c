/*
 * engine.c - the provider, model, tools and defaults that calls use
 *
 *      engine --> record   its fields: plain data, immutable, reference-counted
 *             '-> core     clock, memory, transport, attachments: shared by
 *                          all engines derived from it
 *
 * An engine is immutable.  The put functions create a new engine with a changed
 * record and the same core.  An engine contains no secrets.
 */
#include "engine/engine.h"

#include "base/caller_struct.h"
#include "base/status.h"
#include "data/engine_record.h"
#include "data/model_ref.h"
#include "engine/pairs.h"
#include "engine/retry.h"
#include "engine/trace.h"
#include "json/json.h"

#include <stdatomic.h>

struct allm_engine {
    atomic_size_t count;
    struct shared_core *shared;
    allm_engine_record *record;     /* a root; if rejected, it has the error */
    const struct registry_row *row; /* NULL: no adapter */
    const allm_error *error;        /* of the record, or NULL */
};

/* ------------------------------------------------------- construction --- */

static allm_engine *engine_alloc(struct shared_core *shared)
{
    allm_engine *e = shared ? mem_alloc(shared->core.mem, sizeof *e) : NULL;
    if (!e) {
        engine_core_drop(shared);
        return NULL;
    }
    *e = (allm_engine){ .shared = shared };
    atomic_init(&e->count, 1);
    return e;
}

/* Make the engine unusable, with this error; NULL: out of memory. */
static allm_engine *engine_refuse(allm_engine *e, const allm_error *why)
{
    allm_engine_record *record = e ? shape_failed(&engine_record_shape, why)
                                   : NULL;
    if (!record) {
        allm_engine_free(e);
        return NULL;
    }
    allm_engine_record_free(e->record);
    e->record = record;
    e->error = allm_engine_record_error(record);
    return e;
}

static allm_engine *engine_misuse(allm_engine *e, const char *reason,
                                  const char *message)
{
    allm_error why = STATUS_ERROR(ALLM_ERR_MISUSE, reason, message);
    return engine_refuse(e, &why);
}

/* The caller's own adapter, or else the named one, or else the one of the
 * model's provider; `old` if there is none. */
static const struct registry_row *find_row(const struct shared_core *s,
                                           const char *adapter,
                                           struct slice provider,
                                           const struct registry_row *old)
{
    if (s->core.own.adapter)
        return &s->core.own;
    if (adapter)
        return registry_find(slice_of(adapter));
    if (s->flags & ALLM_ENGINE_NO_ADAPTER)
        return old;
    const struct registry_row *found = provider.ptr ? registry_find(provider)
                                                    : NULL;
    return found ? found : old;
}

/* The provider in front of a model's name; { NULL, 0 } if there is none. */
static struct slice provider_of(const char *model)
{
    struct slice provider = { NULL, 0 }, id;
    if (model)
        model_ref_split(slice_of(model), &provider, &id);
    return provider;
}

static const allm_error *find_fault(const allm_engine *e, struct arena *a)
{
    const allm_engine_record *r = e->record;
    struct retry_policy policy;
    const char *misfit = engine_record_misfit(r);
    if (misfit)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_engine",
                            "%s of the stored engine has the wrong type and "
                            "was not read; correct or remove it",
                            misfit);
    if (allm_json_count(r->middleware) > 0)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_engine",
                            "middleware must be empty in this version; "
                            "leave it out");
    if (r->adapter && !e->row)
        return status_error(a, ALLM_ERR_MISUSE, "invalid_engine",
                            "there is no adapter \"%.64s\"; leave .adapter "
                            "out to use the model's, or set your own as "
                            ".adapter_table",
                            r->adapter);
    if (r->image_adapter && !registry_find(slice_of(r->image_adapter)))
        return status_error(a, ALLM_ERR_MISUSE, "invalid_engine",
                            "there is no adapter \"%.64s\"; leave "
                            ".image_adapter out to use the model's provider",
                            r->image_adapter);
    return retry_policy_read(&policy, r->retry, a);
}

/* Create an engine that takes ownership of the record. */
static allm_engine *engine_wrap(struct shared_core *shared,
                                allm_engine_record *record,
                                const struct registry_row *old)
{
    allm_engine *e = engine_alloc(shared);
    if (!e || !record) {
        allm_engine_record_free(record);
        allm_engine_free(e);
        return NULL;
    }
    e->record = record;
    e->error = allm_engine_record_error(record);
    if (e->error)
        return e;
    e->row = find_row(shared, record->adapter, provider_of(record->model), old);
    struct arena a = arena_in(shared->core.mem);
    const allm_error *fault = find_fault(e, &a);
    if (fault)
        e = engine_refuse(e, fault);
    arena_release(&a);
    return e;
}

/* Is it absent, an object, or a list of pairs? */
static bool are_options(struct arena *a, const allm_json *v)
{
    allm_json_type type = allm_json_type_of(v);
    if (type == ALLM_JSON_NONE || type == ALLM_JSON_NULL)
        return true;            /* the record checks null */
    return pairs_object(a, v) || a->broken;
}

/* Secrets are never stored: an API key among the options is removed, and a
 * trace warning is emitted. */
static const allm_json *without_key(const struct shared_core *s,
                                    struct arena *a, const allm_json *v)
{
    const struct trace t = { s->core.trace, s->core.trace_ud, s->core.clock };
    const allm_json *object = allm_json_count(v) ? pairs_object(a, v) : NULL;
    if (!object || !allm_json_get(object, "api_key"))
        return v;
    trace_warn(&t, NULL, NULL, "key_in_engine");
    return json_set(a, object, SLICE("api_key"), NULL);
}

static void leave_keys_out(const struct shared_core *s, struct arena *a,
                           allm_engine_record *fields)
{
    fields->params = without_key(s, a, fields->params);
    fields->adapter_opts = without_key(s, a, fields->adapter_opts);
}

static allm_engine *engine_fill(struct shared_core *shared,
                                allm_engine_record *fields)
{
    enum { ID_LEN = 22 };
    allm_engine *e = NULL;
    struct arena a = arena_in(shared->core.mem);
    struct buf id = buf_in(&a, ID_LEN);
    if (!fields->id && random_id(shared->core.random, &id))
        fields->id = id.ptr;
    if (!are_options(&a, fields->adapter_opts))
        e = engine_misuse(
            engine_alloc(shared), "invalid_engine",
            "adapter_opts must be an object or a list of [key, value] "
            "with string keys, such as {\"script\": []}");
    else {
        leave_keys_out(shared, &a, fields);
        e = engine_wrap(shared,
                        a.broken ? NULL : allm_engine_record_new(fields), NULL);
    }
    arena_release(&a);
    return e;
}

static allm_engine *engine_make(const allm_engine_opts *o, bool known,
                                allm_engine_record *fields)
{
    struct shared_core *shared = engine_core_new(o);
    if (!shared)
        return NULL;
    const char *fault = known ? engine_core_take(shared, o)
                              : "fill the options with ALLM(engine_opts, "
                                "...); the header must not be newer than the "
                                "library";
    if (shared->core.strings.broken) {
        engine_core_drop(shared);
        return NULL;
    }
    if (fault)
        return engine_misuse(engine_alloc(shared), "struct_size", fault);
    return engine_fill(shared, fields);
}

allm_engine *allm_engine_new(const allm_engine_opts *given)
{
    allm_engine_opts o;
    bool known = caller_struct_take(&o, sizeof o, given);
    allm_engine_record fields = {
        .size = sizeof fields,
        .adapter = o.adapter,
        .adapter_opts = o.adapter_opts,
        .model = o.model,
        .tool_count = o.tool_count,
        .tools = o.tools,
        .tool_executor = o.tool_executor,
        .tool_result_encoder = o.tool_result_encoder,
        .image_adapter = o.image_adapter,
        .params = o.params,
        .context = o.context,
        .retry = o.retry,
        .middleware = o.middleware,
        .metadata = o.metadata,
    };
    return engine_make(&o, known, &fields);
}

allm_engine *allm_engine_from_record(const allm_engine_record *record,
                                     const allm_engine_opts *given)
{
    allm_engine_opts o;
    if (!record)
        return NULL;
    bool known = caller_struct_take(&o, sizeof o, given);
    if (shape_size_fault(record, sizeof(struct shape_head), sizeof *record) ||
        allm_engine_record_error(record))
        return engine_wrap(engine_core_new(&o), allm_engine_record_new(record),
                           NULL);
    allm_engine_record fields;
    caller_struct_take(&fields, sizeof fields, record);
    fields.home = NULL;
    return engine_make(&o, known, &fields);
}

allm_engine *allm_engine_keep(const allm_engine *e)
{
    /* only the reference count changes */
    union {
        const allm_engine *in;
        allm_engine *out;
    } it = { e };
    if (e)
        atomic_fetch_add_explicit(&it.out->count, 1, memory_order_relaxed);
    return it.out;
}

void allm_engine_free(allm_engine *e)
{
    if (!e ||
        atomic_fetch_sub_explicit(&e->count, 1, memory_order_acq_rel) != 1)
        return;
    struct shared_core *shared = e->shared;
    struct mem mem = shared->core.mem;
    allm_engine_record_free(e->record);
    mem_free(mem, e, sizeof *e);
    engine_core_drop(shared);
}

const allm_error *allm_engine_error(const allm_engine *e)
{
    return e ? e->error : status_nomem();
}

const allm_engine_record *allm_engine_fields(const allm_engine *e)
{
    return e ? e->record : NULL;
}

allm_text *allm_engine_json(const allm_engine *e, allm_form form)
{
    return e ? allm_engine_record_json(e->record, form) : NULL;
}

void engine_limit_answers(allm_engine *e, size_t bytes)
{
    e->shared->core.answer_limit = bytes;
}

const struct engine_core *engine_core(const allm_engine *e)
{
    return &e->shared->core;
}

const struct registry_row *engine_row(const allm_engine *e)
{
    return e->row;
}

const struct registry_row *engine_row_for(const allm_engine *e,
                                          const char *model,
                                          const allm_model_ref *ref)
{
    struct slice provider = ref ? slice_of(ref->provider) : provider_of(model);
    return find_row(e->shared, e->record->adapter, provider, e->row);
}

const allm_engine_record *engine_record(const allm_engine *e)
{
    return e->record;
}

/* --------------------------------------------------------- derivation --- */

/* Create an engine with these fields and the same core. */
static allm_engine *engine_derive(const allm_engine *e,
                                  allm_engine_record *fields)
{
    if (!e)
        return NULL;
    if (e->error)
        return allm_engine_keep(e);
    fields->home = NULL;
    struct arena a = arena_in(e->shared->core.mem);
    leave_keys_out(e->shared, &a, fields);
    allm_engine *made =
        engine_wrap(engine_core_keep(e->shared),
                    a.broken ? NULL : allm_engine_record_new(fields), e->row);
    arena_release(&a);
    return made;
}

/* Create an engine with an error that says what is wrong with the change. */
static allm_engine *derive_misuse(const allm_engine *e, const char *reason,
                                  const char *message)
{
    return engine_misuse(engine_alloc(engine_core_keep(e->shared)), reason,
                         message);
}

allm_engine *allm_engine_put_tools(const allm_engine *e, size_t count,
                                   const allm_tool *const *tools)
{
    if (!e || e->error || count == 0)
        return allm_engine_keep(e);
    allm_engine_record fields = *e->record;
    size_t n = fields.tool_count, size;
    if (count > SIZE_MAX - n || !mem_mul(n + count, sizeof *tools, &size))
        return NULL;
    fields.tool_count = n + count;
    struct arena a = arena_in(e->shared->core.mem);
    const allm_tool **all = tools ? arena_alloc(&a, size) : NULL;
    if (all && n)
        memcpy(all, fields.tools, n * sizeof *all);
    if (all)
        memcpy(all + n, tools, count * sizeof *all);
    fields.tools = all;         /* if there is no list, the record reports it */
    allm_engine *made = a.broken ? NULL : engine_derive(e, &fields);
    arena_release(&a);
    return made;
}

allm_engine *allm_engine_put_tool(const allm_engine *e, const allm_tool *tool)
{
    return tool ? allm_engine_put_tools(e, 1, &tool) : NULL;
}

/* Set an entry of a map; `map` is the offset of the map in the record. */
static allm_engine *put_entry(const allm_engine *e, size_t map, const char *key,
                              const allm_json *value)
{
    if (!e || e->error)
        return allm_engine_keep(e);
    if (!value)
        return NULL;
    if (!key)
        return derive_misuse(e, "missing_key_name",
                             "an entry needs a key; to set several at once "
                             "use allm_engine_merge_opts()");
    if (allm_json_type_of(value) == ALLM_JSON_NONE)
        return derive_misuse(e, "broken_json",
                             "the value is a JSON document that was rejected; "
                             "see allm_json_error()");
    allm_engine_record fields = *e->record;
    const allm_json *old;
    memcpy(&old, (char *)&fields + map, sizeof old);
    struct arena a = arena_in(e->shared->core.mem);
    const allm_json *changed = json_set(&a, old ? old : json_empty_object(),
                                        slice_of(key), value);
    memcpy((char *)&fields + map, &changed, sizeof changed);
    allm_engine *made = changed ? engine_derive(e, &fields) : NULL;
    arena_release(&a);
    return made;
}

allm_engine *allm_engine_put_param(const allm_engine *e, const char *key,
                                   const allm_json *value)
{
    return put_entry(e, offsetof(allm_engine_record, params), key, value);
}

allm_engine *allm_engine_put_context(const allm_engine *e, const char *key,
                                     const allm_json *value)
{
    return put_entry(e, offsetof(allm_engine_record, context), key, value);
}

allm_engine *allm_engine_with_model(const allm_engine *e, const char *model)
{
    if (!e || e->error)
        return allm_engine_keep(e);
    allm_engine_record fields = *e->record;
    fields.model = model;
    return engine_derive(e, &fields);
}

/* ------------------------------------------------------------ options --- */

static bool same_name(const allm_tool *a, const allm_tool *b)
{
    const char *x = a->name ? a->name : "", *y = b->name ? b->name : "";
    return strcmp(x, y) == 0;
}

/* Replace all tools that have the name of `by`; false if there is none. */
static bool replace_tool(const allm_tool **tools, size_t n, const allm_tool *by)
{
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        if (!same_name(tools[i], by))
            continue;
        tools[i] = by;
        found = true;
    }
    return found;
}

bool engine_tools(const allm_engine *e, const struct options *o,
                  struct arena *a, size_t *count, const allm_tool *const **out)
{
    const allm_engine_record *r = e->record;
    *count = r->tool_count;
    *out = r->tools;
    if (!o->has_tools)
        return true;
    const allm_tool **all =
        arena_alloc(a, (r->tool_count + o->tool_count + 1) * sizeof *all);
    if (!all)
        return false;
    size_t n = r->tool_count;
    if (n)
        memcpy(all, r->tools, n * sizeof *all);
    for (size_t i = 0; i < o->tool_count; i++)
        if (!replace_tool(all, r->tool_count, o->tools[i]))
            all[n++] = o->tools[i];
    *count = n;
    *out = all;
    return true;
}

const allm_json *engine_params(const allm_engine *e, const struct options *o,
                               struct arena *a)
{
    const allm_json *own = e->record->params;
    const allm_json *given = options_only(a, o->all, ~(1u << OPTION_ENGINE));
    if (!given)
        return NULL;
    if (allm_json_count(given) == 0)
        return own ? own : json_empty_object();
    return json_merge(a, own ? own : json_empty_object(), given);
}

const char *engine_model(const allm_engine *e, const struct options *o,
                         const char *of_request)
{
    if (o->model)
        return o->model;
    return of_request ? of_request : e->record->model;
}

const allm_error *engine_defaults(const allm_engine *e, struct allm_home *home,
                                  struct options *o, struct options *d)
{
    const allm_json *params = e->record->params;
    bool any = allm_json_count(params) > 0;
    const allm_error *error =
        options_read(d, home, any ? ALLM(call_opts, .json = params) : NULL);
    if (!error)
        options_inherit(o, d);
    return error;
}

const char *engine_request_id(const allm_engine *e, const struct options *o,
                              struct arena *a)
{
    return o->request_id ? arena_text(a, o->request_id)
                         : trace_id(e->shared->core.random, a);
}

/* ------------------------------------------------------------ merging --- */

static const allm_json *merge_map(struct arena *a, const allm_json *under,
                                  const allm_json *over)
{
    if (allm_json_type_of(over) != ALLM_JSON_OBJECT)
        return under;           /* values that are not maps are ignored */
    return json_merge(a, under ? under : json_empty_object(), over);
}

/* A member of the struct, or else the one of that name in opts.json. */
static const allm_json *pick_member(const allm_json *own,
                                    const allm_call_opts *o, const char *name)
{
    return own ? own : allm_json_get(o->json, name);
}

/* Merge the engine's tools with those of the call; invalid ones are ignored.
 * False: out of memory. */
static bool merge_tools(const allm_engine *e, const allm_call_opts *o,
                        struct allm_home *home, allm_engine_record *fields)
{
    struct options tools;
    struct arena *a = home_arena(home);
    const allm_json *list = allm_json_get(o->json, "tools");
    const allm_json *json =
        list ? json_set(a, json_empty_object(), SLICE("tools"), list) : NULL;
    const allm_error *wrong = options_read(&tools, home,
                                           ALLM(call_opts, .tools = o->tools,
                                                .tool_count = o->tool_count,
                                                .json = json));
    if (!wrong)
        wrong = options_tools(&tools, home);
    return (wrong && wrong->kind != ALLM_ERR_NOMEM) ||
           (!wrong &&
            engine_tools(e, &tools, a, &fields->tool_count, &fields->tools));
}

/* Never rejects anything: options that cannot be used are ignored. */
allm_engine *allm_engine_merge_opts(const allm_engine *e,
                                    const allm_call_opts *opts)
{
    allm_call_opts o;
    if (!e || e->error || !opts || !caller_struct_take(&o, sizeof o, opts))
        return allm_engine_keep(e);
    struct allm_home *home = home_new(e->shared->core.mem, 256);
    if (!home)
        return NULL;
    struct arena *a = home_arena(home);
    const char *model = o.model ? o.model
                                : allm_json_text(pick_member(NULL, &o, "model"),
                                                 NULL);
    allm_engine_record fields = *e->record;
    fields.model = model ? model : fields.model;
    fields.params = merge_map(a, fields.params,
                              pick_member(o.params, &o, "params"));
    fields.context = merge_map(a, fields.context,
                               pick_member(o.context, &o, "context"));
    bool ok = merge_tools(e, &o, home, &fields) && !a->broken;
    allm_engine *made = ok ? engine_derive(e, &fields) : NULL;
    home_drop(home);
    return made;
}
