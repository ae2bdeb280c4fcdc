/*
 * call_plan.c - check a call and prepare everything it needs to run
 *
 *      options -> provider -> defaults -> request -> model -> catalog
 *              -> adapter's options -> dialect -> address -> key
 *
 * Requests, turns and tasks go through the same sequence; a table of functions
 * (struct call_kind) holds the differences.  The order of precedence is always
 * the call, the request, the engine, the default.
 */
#include "run/call_plan.h"

#include "base/status.h"
#include "data/model_ref.h"
#include "data/request.h"
#include "data/thread.h"
#include "data/validate.h"
#include "engine/catalog.h"
#include "engine/pairs.h"
#include "provider/fetch.h"
#include "run/call_target.h"
#include "run/images.h"
#include "run/resolve.h"
#include "json/json.h"

#include <stdint.h>

/* Default timeouts in milliseconds; the call or the provider's row can set
 * others. */
enum { CONNECT_MS = 30000, FIRST_MS = 120000, SILENCE_MS = 120000 };

typedef const allm_error *planning_step(struct call_planning *w);

/* The differences between requests, turns and tasks. */
struct call_kind {
    const struct registry_row *(*find_row)(struct call_planning *w);
    planning_step *check_adapter;
    planning_step *fill_request;
    planning_step *check_request;
    bool is_task;
};

/* ------------------------------------------------------------- options --- */

static uint32_t limit_or_default(int64_t ms, uint32_t otherwise)
{
    return ms ? options_small(ms) : otherwise;
}

static struct terms terms_of(const struct options *o,
                             const struct registry_row *row)
{
    uint32_t first_ms = row->first_ms ? row->first_ms : FIRST_MS;
    return (struct terms){
        .text_deltas = o->emit_text_deltas,
        .tool_deltas = o->emit_tool_deltas,
        .raw_chunks = o->include_raw_chunks,
        .connect_ms = limit_or_default(o->connect_ms, CONNECT_MS),
        .first_ms = limit_or_default(o->first_ms, first_ms),
        .silence_ms = limit_or_default(o->silence_ms, SILENCE_MS),
        .total_ms = limit_or_default(o->total_ms, 0),
        .on_event = o->given.on_event,
        .on_event_ud = o->given.on_event_ud,
    };
}

int64_t call_plan_deadline_ns(const allm_engine *e, const struct options *o)
{
    return o->total_ms && o->total_ms < UINT32_MAX
               ? clock_after(clock_now_ns(engine_core(e)->clock), o->total_ms)
               : INT64_MAX;
}

const allm_error *call_plan_options(const allm_engine *e,
                                    const struct options *o, struct arena *a,
                                    const allm_json **options,
                                    const allm_json **adapter_opts)
{
    const allm_json *own = engine_record(e)->adapter_opts;
    const allm_json *all = engine_params(e, o, a);
    own = allm_json_count(own) ? pairs_object(a, own) : json_empty_object();
    *options = all ? options_only(a, all, 1u << OPTION_PROVIDER) : NULL;
    *adapter_opts = own && o->adapter_opts ? json_merge(a, own, o->adapter_opts)
                                           : own;
    return own && *options && *adapter_opts ? NULL : status_nomem();
}

/* Turns and tasks have read their options already, with the defaults. */
static const allm_error *read_defaults(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    if (w->options != &w->own_options)
        return NULL;
    const allm_error *error = engine_defaults(p->engine, p->home,
                                              &w->own_options, &w->defaults);
    return error ? error : options_tools(&w->own_options, p->home);
}

static const allm_error *fill_terms(struct call_planning *w)
{
    w->plan->terms = terms_of(w->options, w->plan->row);
    return NULL;
}

/* ------------------------------------------------------------ requests --- */

/* Members of the caller's struct, which may be shorter than ours. */
static const allm_model_ref *ref_of(const allm_request *request)
{
    return request && MEM_REACHES(request, model_ref) ? request->model_ref
                                                      : NULL;
}

static const char *model_of(const allm_request *request)
{
    return request && MEM_REACHES(request, model) ? request->model : NULL;
}

static const struct registry_row *find_row(struct call_planning *w)
{
    const allm_model_ref *ref = ref_of(w->spec->request);
    return engine_row_for(w->plan->engine, w->model,
                          w->options->model ? NULL : ref);
}

/* The model names no provider, or an unknown one. */
static const allm_error *missing_adapter(struct call_plan *p, const char *model)
{
    return status_error(
        home_arena(p->home), ALLM_ERR_ENGINE, "missing_adapter",
        "the engine has no adapter%s%.100s%s; set .adapter, or a model such as "
        "\"fake:m\"",
        model ? ", and the model \"" : "", model ? model : "",
        model ? "\" has no known provider as its prefix" : "");
}

/* Check the adapter; report the engine's own error, if it has one. */
static const allm_error *check_engine(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    const allm_error *broken = allm_engine_error(p->engine);
    if (broken)
        return broken;
    if (!p->row)
        return missing_adapter(p, w->model);
    const allm_adapter *a = p->row->adapter;
    if ((a->flags & ALLM_ADAPTER_NO_STREAM) || (!a->next && !a->decode))
        return status_error(home_arena(p->home), ALLM_ERR_ENGINE,
                            "missing_stream_adapter",
                            "the engine's adapter cannot stream; set one that "
                            "has next or decode");
    return NULL;
}

/* Hold the caller's request and resolve its fields. */
static const allm_error *fill_request(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    const allm_error *error = status_nomem();
    allm_request *mine = shape_keep(&request_shape, w->spec->request,
                                    engine_core(p->engine)->mem,
                                    home_arena(p->home), &error);
    if (!mine)
        return error;
    error = status_nomem();
    if (home_hold(p->home, mine->home)) {
        p->request = *mine;
        p->request.home = NULL;
        error = resolve_request(&p->request, p->engine, w->options,
                                &w->defaults, p->home);
    }
    home_drop(mine->home);
    return error;
}

static const allm_error *check_request(struct call_planning *w)
{
    return validate_request(w->scratch, &w->plan->request);
}

static const struct call_kind request_kind = {
    .find_row = find_row,
    .check_adapter = check_engine,
    .fill_request = fill_request,
    .check_request = check_request,
};

/* --------------------------------------------------------------- turns --- */

/* Share the thread of the conversation; it is not copied. */
static const allm_error *fill_turn(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    const struct call_spec *turn = w->spec;
    const allm_thread *mine = NULL;
    allm_request *r = &p->request;
    const allm_error *error = thread_own.share(p->home, turn->thread, &mine);
    if (error)
        return error;
    *r = (allm_request){ .size = sizeof *r, .tool_count = turn->tool_count,
                         .tools = turn->tools, .stream = 1,
                         .structured_finalize = turn->structured_finalize,
                         .options = json_empty_object(),
                         .metadata = json_empty_object() };
    r->messages = allm_thread_messages(mine, &r->message_count);
    /* The options contain the defaults, too. */
    resolve_fields(r, p->engine, w->options, w->options);
    return NULL;
}

/* Validate only the messages that no earlier turn has validated. */
static const allm_error *check_turn(struct call_planning *w)
{
    size_t checked = w->spec->checked_count;
    allm_request unchecked = w->plan->request;
    if (!checked)
        return validate_request(w->scratch, &unchecked);
    if (checked >= unchecked.message_count)
        return NULL;
    unchecked.messages += checked;
    unchecked.message_count -= checked;
    unchecked.tools = NULL;
    unchecked.tool_count = 0;
    return validate_request(w->scratch, &unchecked);
}

static const struct call_kind turn_kind = {
    .find_row = find_row,
    .check_adapter = check_engine,
    .fill_request = fill_turn,
    .check_request = check_turn,
};

/* --------------------------------------------------------------- tasks --- */

const struct registry_row *call_plan_task_row(const allm_engine *e,
                                              enum tasks_kind kind,
                                              const char *model)
{
    const char *named = engine_record(e)->image_adapter;
    if (kind == TASKS_FETCH)
        return &fetch_row;
    return kind == TASKS_IMAGE && named ? registry_find(slice_of(named))
                                        : engine_row_for(e, model, NULL);
}

static const struct registry_row *find_task_row(struct call_planning *w)
{
    return call_plan_task_row(w->plan->engine, w->spec->kind, w->model);
}

/* The provider must offer the task; it may use a separate dialect for it. */
static const allm_error *check_task_adapter(struct call_planning *w)
{
    static const char *const lacks[] = { [TASKS_EMBED] = "no_embed_adapter",
                                         [TASKS_IMAGE] = "no_image_adapter",
                                         [TASKS_MODERATE] =
                                             "no_moderation_adapter",
                                         [TASKS_MODELS] = "no_models_adapter" };
    struct call_plan *p = w->plan;
    const struct call_spec *task = w->spec;
    const allm_error *broken = allm_engine_error(p->engine);
    if (broken)
        return broken;
    if (!p->row || !tasks_find(p->row, task->kind))
        return status_error(
            home_arena(p->home), ALLM_ERR_ENGINE, lacks[task->kind],
            "%s is not supported by %s; choose another provider by the model's "
            "name, such as \"openai:...\"",
            task->name, p->row ? p->row->name : "no provider");
    p->chosen = tasks_row(p->row, task->kind);
    p->row = &p->chosen;
    return NULL;
}

static const allm_error *skip_check(struct call_planning *w)
{
    (void)w;
    return NULL;
}

static allm_request empty_request(void)
{
    return (allm_request){ .size = sizeof(allm_request),
                           .options = json_empty_object(),
                           .metadata = json_empty_object() };
}

/* The dialects of tasks read only the options of the request. */
static const allm_error *fill_task(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    const struct call_spec *task = w->spec;
    p->request = empty_request();
    p->request.model = task->no_model ? NULL : task->model;
    if (task->request_options)
        p->request.options = task->request_options;
    p->terms.raw_chunks = true;     /* One of them is the result. */
    p->free_model = task->kind == TASKS_MODERATE || task->kind == TASKS_MODELS;
    p->call.embed = task->embed;
    p->call.image = task->image;
    p->call.moderation = task->moderation;
    return NULL;
}

static const struct call_kind task_kind = {
    .find_row = find_task_row,
    .check_adapter = check_task_adapter,
    .fill_request = fill_task,
    .check_request = skip_check,
    .is_task = true,
};

/* Fetch an image from its address; the provider is not involved. */
static const allm_error *fill_fetch(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    p->terms.raw_chunks = true;     /* One of them is the result. */
    p->terms.on_event = NULL;
    if (!p->terms.total_ms || p->terms.total_ms > FETCH_MS)
        p->terms.total_ms = FETCH_MS;
    p->request = empty_request();
    p->call.options = p->call.adapter_opts = json_empty_object();
    p->call.provider = p->row->name;
    p->call.base_url = w->spec->fetch;
    return NULL;
}

static const struct call_kind fetch_kind = {
    .find_row = find_task_row,
    .check_adapter = skip_check,
    .fill_request = fill_fetch,
    .check_request = skip_check,
    .is_task = true,
};

/* ----------------------------------------------------------- all calls --- */

static const allm_error *choose_adapter(struct call_planning *w)
{
    w->plan->row = w->kind->find_row(w);
    return w->kind->check_adapter(w);
}

/* A model name may contain colons ("llama3:8b"), so a prefix counts as a
 * provider only if that provider is known. */
static bool is_provider(const struct call_plan *p, struct slice name)
{
    return name.ptr && (slice_is(name, p->row->name) || registry_find(name));
}

/* Set the provider and the model name without the provider's prefix. */
static const allm_error *split_model(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    const allm_request *r = &p->request;
    struct slice provider = { NULL, 0 }, id = { NULL, 0 };
    struct arena *a = home_arena(p->home);
    if (r->model_ref) {
        p->call.model = r->model_ref->id;
    } else if (r->model) {
        model_ref_split(slice_of(r->model), &provider, &id);
        p->call.model = is_provider(p, provider) ? arena_copy(a, id) : r->model;
    }
    /* Not the provider in the model's name: the key must go where the adapter
     * sends the call. */
    p->call.provider = p->row->name;
    if (!p->call.model && p->row->adapter->encode && !p->free_model)
        return status_error(
            home_arena(p->home), ALLM_ERR_ENGINE, "missing_model",
            "there is no model; set one in the call, the request "
            "or the engine, such as \"openai:gpt-4.1-mini\"");
    return a->broken ? status_nomem() : NULL;
}

/* Report what the model cannot do, if the catalog knows it. */
static const allm_error *check_model(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    allm_request *r = &p->request;
    const allm_catalog *catalog = engine_core(p->engine)->catalog;
    const allm_adapter *adapter = p->row->adapter;
    p->ref = catalog ? r->model_ref : NULL;
    if (!p->ref && !catalog_find(catalog, r->model, &p->ref))
        return status_nomem();
    if (catalog && r->model && !p->ref)
        trace_warn(w->trace, p->call.request_id, r->model, "unknown_model");
    if (p->ref) {
        const allm_error *error = catalog_preflight(p->ref, r,
                                                    home_arena(p->home));
        if (error)
            return error;
    }
    if (!r->structured_finalize && adapter->needs_finalize &&
        adapter->needs_finalize(r))
        r->structured_finalize = 1;
    return NULL;
}

static const allm_error *check_images(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    if (w->spec->image)
        return catalog_preflight_image(p->ref, w->spec->image,
                                       home_arena(p->home));
    return p->row->adapter->encode
               ? images_load(&p->request, p->home, catalog_is_blind(p->ref))
               : NULL;
}

static const allm_error *fill_options(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    if (p->call.options)
        return NULL;
    return call_plan_options(p->engine, w->options, home_arena(p->home),
                             &p->call.options, &p->call.adapter_opts);
}

/* Merge the provider's options into the request, where the adapter reads
 * them.  The call's take precedence over the request's, and those over the
 * engine's. */
static const allm_error *merge_options(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    struct arena *a = home_arena(p->home);
    const allm_json *all = p->call.options, *call_options;
    allm_request *r = &p->request;
    if (w->kind->is_task || allm_json_count(all) == 0)
        return NULL;
    if (allm_json_count(r->options) == 0) {
        r->options = all;
        return NULL;
    }
    call_options = options_only(a, w->options->all, 1u << OPTION_PROVIDER);
    all = call_options ? json_merge(a, all, r->options) : NULL;
    r->options = all ? json_merge(a, all, call_options) : NULL;
    return r->options ? NULL : status_nomem();
}

static const allm_error *find_target(struct call_planning *w)
{
    struct call_plan *p = w->plan;
    const allm_error *error = w->kind->is_task ? NULL : call_target_dialect(p);
    if (!error)
        error = call_target_address(p);
    return error ? error : call_target_key(p, w->options->api_key);
}

/* ------------------------------------------------------------ sequence --- */

/* Fill in the members that every kind of call has. */
static void fill_call(struct call_planning *w)
{
    const struct engine_core *core = engine_core(w->plan->engine);
    allm_call *c = &w->plan->call;
    c->size = sizeof *c;
    c->clock = &core->public_clock;
    c->attachments = core->attachments;
    c->request = &w->plan->request;
    c->request_id = w->spec->request_id;
    c->options = w->spec->provider_options;
    c->adapter_opts = w->spec->adapter_opts;
}

static const char *name_model(const struct call_planning *w)
{
    const allm_request *request = w->spec->request;
    if (w->kind->is_task)
        return w->spec->model;
    if (!w->options->model && ref_of(request))
        return ref_of(request)->id;
    return engine_model(w->plan->engine, w->options, model_of(request));
}

static const struct call_kind *choose_kind(const struct call_spec *spec)
{
    if (spec->thread)
        return &turn_kind;
    if (spec->fetch)
        return &fetch_kind;
    return spec->request ? &request_kind : &task_kind;
}

const allm_error *call_plan_begin(struct call_planning *w, struct call_plan *p,
                                  const struct call_spec *spec)
{
    w->plan = p;
    w->spec = spec;
    w->kind = choose_kind(spec);
    w->options = spec->options ? spec->options : &w->own_options;
    if (!spec->options) {
        const allm_error *error = options_read(&w->own_options, p->home,
                                               spec->call_opts);
        if (error)
            return error;
    }
    fill_call(w);
    if (!p->call.request_id)
        p->call.request_id = engine_request_id(p->engine, w->options,
                                               home_arena(p->home));
    w->model = name_model(w);
    return p->call.request_id ? NULL : status_nomem();
}

const allm_error *call_plan_check(struct call_planning *w,
                                  struct arena *scratch, const struct trace *t)
{
    planning_step *const steps[] = {
        choose_adapter,           read_defaults, fill_terms,
        w->kind->fill_request,  w->kind->check_request,
        split_model,             check_model,   check_images,
        fill_options,           merge_options,  find_target,
    };
    enum { FETCH_STEPS = 5 };   /* A fetch needs no model and no provider. */
    size_t n = w->spec->fetch ? FETCH_STEPS : sizeof steps / sizeof *steps;
    const allm_error *error = NULL;
    w->scratch = scratch;
    w->trace = t;
    for (size_t i = 0; !error && i < n; i++)
        error = steps[i](w);
    return error;
}

void call_plan_release(struct call_plan *p)
{
    if (p->key)
        secret_release(p->key);
}
