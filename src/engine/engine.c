/*
 * engine.c - what to talk to, and with which defaults
 *
 *      engine --> record   its fields: plain data, immutable, counted
 *             '-> core     clock, memory, transport, attachments: shared by
 *                          every engine derived from it
 *
 * An engine never changes: put functions make a new one with a changed record
 * and the same core.  Nothing in it is secret.
 */
#include "engine/engine.h"

#include "base/attachment.h"
#include "base/given.h"
#include "base/status.h"
#include "data/encode.h"
#include "data/engine_record.h"
#include "data/model_ref.h"
#include "data/tool.h"
#include "engine/catalog.h"
#include "engine/keys.h"
#include "engine/retry.h"
#include "json/build.h"
#include "json/json.h"

#include <stdatomic.h>

struct shared_core {
    atomic_size_t count;
    struct engine_core core;
};

struct allm_engine {
    atomic_size_t count;
    struct shared_core *shared;
    allm_engine_record *record;     /* a root of ours */
    const struct registry_row *row; /* NULL: no adapter */
    bool by_model;                  /* the model's provider chose it */
    struct allm_home *told;         /* owns error; NULL if all is well */
    const allm_error *error;
};

/* ------------------------------------------------------------------- core --- */

static int64_t core_now(void *ud)
{
    return clock_now_ns(((const struct engine_core *)ud)->clock);
}

static int64_t core_unix(void *ud)
{
    return clock_unix_ms(((const struct engine_core *)ud)->clock);
}

static struct shared_core *core_new(const allm_engine_opts *o)
{
    struct mem mem = mem_from(o->allocator);
    struct shared_core *s = mem_alloc(mem, sizeof *s);
    allm_attachments *attachments = s ? attachment_new(mem) : NULL;
    if (!attachments) {
        mem_free(mem, s, sizeof *s);
        return NULL;
    }
    *s = (struct shared_core){ .core = { .mem = mem } };
    atomic_init(&s->count, 1);
    struct engine_core *c = &s->core;
    c->clock = clock_from(o->clock);
    c->public_clock = (allm_clock){ .size = sizeof(allm_clock),
                                    .now_ns = core_now,
                                    .unix_ms = core_unix,
                                    .ud = c };
    c->random = random_from(o->random);
    c->transport = o->transport;
    c->attachments = attachments;
    c->keys = allm_keys_keep(o->keys);
    c->catalog = allm_catalog_keep(o->catalog);
    c->trace = o->trace;
    c->trace_ud = o->trace_ud;
    return s;
}

static struct shared_core *core_keep(struct shared_core *s)
{
    atomic_fetch_add_explicit(&s->count, 1, memory_order_relaxed);
    return s;
}

static void core_drop(struct shared_core *s)
{
    if (!s ||
        atomic_fetch_sub_explicit(&s->count, 1, memory_order_acq_rel) != 1)
        return;
    struct mem mem = s->core.mem;
    attachment_drop(s->core.attachments);
    allm_keys_free(s->core.keys);
    allm_catalog_free(s->core.catalog);
    mem_free(mem, s, sizeof *s);
}

/* ------------------------------------------------------------------- life --- */

static allm_engine *engine_alloc(struct shared_core *shared)
{
    allm_engine *e = shared ? mem_alloc(shared->core.mem, sizeof *e) : NULL;
    if (!e) {
        core_drop(shared);
        return NULL;
    }
    *e = (allm_engine){ .shared = shared };
    atomic_init(&e->count, 1);
    return e;
}

/* The engine is unusable, and says why; NULL if there is no memory for it. */
static allm_engine *refused(allm_engine *e, const allm_error *why)
{
    if (why->kind != ALLM_ERR_NOMEM)
        e->told = home_new(e->shared->core.mem, 512);
    if (e->told)
        e->error = status_retell(home_arena(e->told), why);
    if (e->told && e->error->kind != ALLM_ERR_NOMEM)
        return e;
    allm_engine_free(e);
    return NULL;
}

static allm_engine *misused(allm_engine *e, const char *reason,
                            const char *sentence)
{
    allm_error why = status_blank(ALLM_ERR_MISUSE);
    why.reason = reason;
    why.message = sentence;
    return refused(e, &why);
}

/* By its own name, else by the provider in the model's. */
static const struct registry_row *look_up(const allm_engine_record *r,
                                          uint32_t flags)
{
    if (r->adapter)
        return registry_find(slice_of(r->adapter));
    if (!r->model || (flags & ALLM_ENGINE_NO_ADAPTER))
        return NULL;
    struct slice provider, id;
    model_ref_split(slice_of(r->model), &provider, &id);
    return registry_find(provider);
}

/* Everything that is wrong with the fields themselves. */
static allm_engine *check(allm_engine *e)
{
    const allm_engine_record *r = e->record;
    struct arena a;
    struct retry_policy policy;
    if (allm_json_count(r->middleware) > 0)
        return misused(e, "invalid_engine",
                       "middleware must stay empty in this version");
    if (r->adapter && !e->row)
        return misused(e, "invalid_engine",
                       "no adapter has that name; use a name that "
                       "docs/providers.md lists, or give adapter_table");
    arena_init(&a, e->shared->core.mem);
    const allm_error *wrong = retry_policy_read(&policy, r->retry, &a);
    allm_engine *checked = wrong ? refused(e, wrong) : e;
    arena_release(&a);
    return checked;
}

/* An engine around a record that is given away to it. */
static allm_engine *wrap(struct shared_core *shared, allm_engine_record *record,
                         const struct registry_row *row, uint32_t flags)
{
    allm_engine *e = engine_alloc(shared);
    if (!e || !record) {
        allm_engine_record_free(record);
        allm_engine_free(e);
        return NULL;
    }
    e->record = record;
    const allm_error *wrong = allm_engine_record_error(record);
    if (wrong)
        return refused(e, wrong);
    e->row = row ? row : look_up(record, flags);
    e->by_model = !row && !record->adapter && !(flags & ALLM_ENGINE_NO_ADAPTER);
    return check(e);
}

/* The caller's own adapter becomes a row as those of the registry. */
static bool take_adapter(struct engine_core *c, const allm_adapter *given)
{
    if (!given)
        return true;
    if (!given_take(&c->own_adapter, sizeof c->own_adapter, given))
        return false;
    c->own = (struct registry_row){ .name = c->own_adapter.name,
                                    .adapter = &c->own_adapter };
    return true;
}

static allm_engine *new_from(const allm_engine_opts *given,
                             allm_engine_record *fields)
{
    allm_engine_opts o;
    char id[32];
    struct arena a;
    struct buf text;
    bool known = given_take(&o, sizeof o, given);
    struct shared_core *shared = core_new(&o);
    if (!shared)
        return NULL;
    if (!known || !take_adapter(&shared->core, o.adapter_table)) {
        allm_engine *e = engine_alloc(shared);
        return e ? misused(e, "struct_size",
                           "fill the options with ALLM(engine_opts, ...) and "
                           "the size of adapter_table with sizeof, by a header "
                           "not newer than the library")
                 : NULL;
    }
    arena_init(&a, shared->core.mem);
    buf_init(&text, &a, sizeof id);
    if (!fields->id && random_id(shared->core.random, &text))
        fields->id = text.ptr;
    allm_engine_record *record = a.broken ? NULL
                                          : allm_engine_record_new(fields);
    arena_release(&a);
    const struct registry_row *own = &shared->core.own;
    return wrap(shared, record, own->adapter ? own : NULL, o.flags);
}

allm_engine *allm_engine_new(const allm_engine_opts *given)
{
    allm_engine_opts o;
    given_take(&o, sizeof o, given);
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
    return new_from(given, &fields);
}

allm_engine *allm_engine_from_record(const allm_engine_record *record,
                                     const allm_engine_opts *given)
{
    if (!record)
        return NULL;
    allm_engine_record fields = { .size = sizeof fields };
    memcpy(&fields, record,
           record->size < sizeof fields ? record->size : sizeof fields);
    fields.size = sizeof fields;
    fields.home = NULL;
    return new_from(given, &fields);
}

allm_engine *allm_engine_keep(const allm_engine *e)
{
    /* counted, and otherwise never changed */
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
    home_drop(e->told);
    mem_free(mem, e, sizeof *e);
    core_drop(shared);
}

const allm_error *allm_engine_error(const allm_engine *e)
{
    return e ? e->error : status_nomem();
}

const allm_engine_record *allm_engine_fields(const allm_engine *e)
{
    return e ? e->record : NULL;
}

allm_text *allm_engine_json(const allm_engine *e, uint32_t form)
{
    return e ? allm_engine_record_json(e->record, form) : NULL;
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
                                          const char *model)
{
    struct slice provider, id;
    if (!e->by_model || !model)
        return e->row;
    model_ref_split(slice_of(model), &provider, &id);
    const struct registry_row *row = provider.ptr ? registry_find(provider)
                                                  : NULL;
    return row ? row : e->row;
}

const allm_adapter *engine_adapter(const allm_engine *e)
{
    return e->row ? e->row->adapter : NULL;
}

const allm_engine_record *engine_record(const allm_engine *e)
{
    return e->record;
}

/* --------------------------------------------------------------- deriving --- */

/* An engine with these fields in place of the old ones, on the same core. */
static allm_engine *derive(const allm_engine *e, allm_engine_record *fields)
{
    if (!e)
        return NULL;
    if (e->error)
        return allm_engine_keep(e);
    fields->home = NULL;
    return wrap(core_keep(e->shared), allm_engine_record_new(fields),
                e->by_model ? NULL : e->row,
                e->by_model ? 0 : ALLM_ENGINE_NO_ADAPTER);
}

allm_engine *allm_engine_put_tools(const allm_engine *e, size_t count,
                                   const allm_tool *const *tools)
{
    if (!e || e->error || count == 0)
        return allm_engine_keep(e);
    struct arena a;
    allm_engine_record fields = *e->record;
    size_t n = fields.tool_count;
    arena_init(&a, e->shared->core.mem);
    const allm_tool **all = arena_alloc(&a, (n + count) * sizeof *all);
    allm_engine *made = NULL;
    if (all) {
        if (n)
            memcpy(all, fields.tools, n * sizeof *all);
        memcpy(all + n, tools, count * sizeof *all);
        fields.tools = all;
        fields.tool_count = n + count;
        made = derive(e, &fields);
    }
    arena_release(&a);
    return made;
}

allm_engine *allm_engine_put_tool(const allm_engine *e, const allm_tool *tool)
{
    return tool ? allm_engine_put_tools(e, 1, &tool) : NULL;
}

/* One entry of one map; `map` is where the record has it. */
static allm_engine *put_entry(const allm_engine *e, size_t map, const char *key,
                              const allm_json *value)
{
    if (!e || e->error)
        return allm_engine_keep(e);
    struct arena a;
    allm_engine_record fields = *e->record;
    const allm_json *old;
    memcpy(&old, (char *)&fields + map, sizeof old);
    arena_init(&a, e->shared->core.mem);
    const allm_json *changed = json_set(&a, old ? old : json_empty_object(),
                                        slice_of(key),
                                        value ? value : json_null());
    memcpy((char *)&fields + map, &changed, sizeof changed);
    allm_engine *made = changed ? derive(e, &fields) : NULL;
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
    return derive(e, &fields);
}

/* -------------------------------------------------------------- resolving --- */

static size_t index_of(const allm_tool *const *tools, size_t n,
                       const char *name)
{
    size_t i = 0;
    while (i < n && strcmp(tools[i]->name, name) != 0)
        i++;
    return i;
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
    for (size_t i = 0; i < o->tool_count; i++) {
        const char *name = o->tools[i]->name ? o->tools[i]->name : "";
        size_t at = index_of(all, r->tool_count, name);
        if (at == r->tool_count)
            at = n++;
        all[at] = o->tools[i];
    }
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

/* ----------------------------------------------------------------- public --- */

/* Options read for a pure question; broken ones are told by the answer. */
struct question {
    struct allm_home *home;
    struct arena *arena;        /* the home's */
    struct options options;
    const allm_error *error;
};

static bool ask(struct question *q, const allm_engine *e,
                const allm_call_opts *opts)
{
    if (!e)
        return false;
    q->home = home_new(e->shared->core.mem, 256);
    if (!q->home)
        return false;
    q->arena = home_arena(q->home);
    q->error = e->error ? e->error : options_read(&q->options, q->home, opts);
    return true;
}

/* The answer as a root, or a root that says what is wrong. */
static allm_json *reply(struct question *q, const allm_json *v)
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
    struct question q;
    if (!ask(&q, e, opts))
        return NULL;
    return reply(&q, q.error ? NULL : engine_params(e, &q.options, q.arena));
}

allm_json *allm_engine_resolve_model(const allm_engine *e,
                                     const allm_call_opts *opts)
{
    struct question q;
    struct build b;
    const allm_error *error = NULL;
    if (!ask(&q, e, opts))
        return NULL;
    if (q.error)
        return reply(&q, NULL);
    const char *name = engine_model(e, &q.options, NULL);
    const allm_model_ref *ref =
        name ? allm_catalog_find(e->shared->core.catalog, name) : NULL;
    if (ref)
        return reply(&q, encode_to_json(q.arena, &model_ref_shape, ref,
                                        ALLM_FORM_PLAIN, &error));
    build_init(&b, q.arena);
    if (name)
        build_text(&b, slice_of(name));
    else
        build_null(&b);
    return reply(&q, build_done(&b));
}

/* A new root from the engine's record with other tools. */
static allm_engine_record *record_with(const allm_engine *e, size_t count,
                                       const allm_tool *const *tools)
{
    allm_engine_record fields = *e->record;
    fields.home = NULL;
    fields.tools = tools;
    fields.tool_count = count;
    return allm_engine_record_new(&fields);
}

allm_engine_record *allm_engine_resolve_tools(const allm_engine *e,
                                              const allm_call_opts *opts)
{
    struct question q;
    size_t n = 0;
    const allm_tool *const *tools = NULL;
    allm_engine_record *record = NULL;
    if (!ask(&q, e, opts))
        return NULL;
    if (!q.error && engine_tools(e, &q.options, q.arena, &n, &tools))
        record = record_with(e, n, tools);
    else if (q.error && q.error->kind != ALLM_ERR_NOMEM)
        record = shape_failed(&engine_record_shape, q.error);
    home_drop(q.home);
    return record;
}

static const allm_json *merged(struct arena *a, const allm_json *under,
                               const allm_json *over)
{
    if (allm_json_type_of(over) != ALLM_JSON_OBJECT)
        return under;           /* what is not a map is ignored */
    return json_merge(a, under ? under : json_empty_object(), over);
}

allm_engine *allm_engine_merge_opts(const allm_engine *e,
                                    const allm_call_opts *opts)
{
    struct question q;
    if (!ask(&q, e, opts))
        return NULL;
    allm_engine *made = NULL;
    if (q.error) {              /* total: it never refuses */
        made = allm_engine_keep(e);
    } else {
        const struct options *o = &q.options;
        allm_engine_record fields = *e->record;
        bool ok = engine_tools(e, o, q.arena, &fields.tool_count,
                               &fields.tools);
        fields.model = o->model ? o->model : fields.model;
        fields.params = merged(q.arena, fields.params, o->params);
        fields.context = merged(q.arena, fields.context, o->context);
        made = ok && !q.arena->broken ? derive(e, &fields) : NULL;
    }
    home_drop(q.home);
    return made;
}
