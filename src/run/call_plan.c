/*
 * call_plan.c - a call before it runs: checked, with everything that it needs
 *
 *      options -> engine -> request -> model -> catalog -> adapter's options
 *              -> dialect -> where -> key
 *
 * Precedence everywhere: the call, the request, the engine, the default.
 */
#include "run/call_plan.h"

#include "base/status.h"
#include "data/model_ref.h"
#include "data/request.h"
#include "data/thread.h"
#include "data/validate.h"
#include "engine/catalog.h"
#include "engine/keys.h"
#include "engine/pairs.h"
#include "net/request_json.h"
#include "provider/fetch.h"
#include "run/images.h"
#include "run/resolve.h"
#include "json/json.h"

#include <stdint.h>

/* Silence that is too long, in milliseconds, unless the call or the provider's
 * row says else. */
enum { CONNECT_MS = 30000, FIRST_MS = 120000, SILENCE_MS = 120000 };

static const allm_error *wrong(struct call_plan *p, allm_status kind,
                               const char *reason, const char *sentence)
{
    return status_error(home_arena(p->home), kind, reason, "%s", sentence);
}

/* ------------------------------------------------------------------ options --- */

static uint32_t or_default(int64_t ms, uint32_t otherwise)
{
    return ms > UINT32_MAX ? UINT32_MAX : ms ? (uint32_t)ms : otherwise;
}

static struct terms terms_of(const struct options *o,
                             const struct registry_row *row)
{
    uint32_t first_ms = row->first_ms ? row->first_ms : FIRST_MS;
    return (struct terms){
        .text_deltas = o->emit_text_deltas,
        .tool_deltas = o->emit_tool_deltas,
        .raw_chunks = o->include_raw_chunks,
        .connect_ms = or_default(o->connect_ms, CONNECT_MS),
        .first_ms = or_default(o->first_ms, first_ms),
        .silence_ms = or_default(o->silence_ms, SILENCE_MS),
        .total_ms = or_default(o->total_ms, 0),
        .on_event = o->given.on_event,
        .on_event_ud = o->given.on_event_ud,
    };
}

int64_t call_plan_late_ns(const allm_engine *e, const struct options *o)
{
    return o->total_ms && o->total_ms < UINT32_MAX
               ? clock_after(clock_now_ns(engine_core(e)->clock), o->total_ms)
               : INT64_MAX;
}

void call_plan_adopt(struct call_plan *p, const char *request_id)
{
    const struct engine_core *core = engine_core(p->engine);
    p->call.size = sizeof p->call;
    p->call.clock = &core->public_clock;
    p->call.attachments = core->attachments;
    p->call.request_id = request_id;
}

const allm_error *call_plan_begin(struct call_plan *p,
                                  const allm_call_opts *opts, struct options *o)
{
    const struct engine_core *core = engine_core(p->engine);
    struct arena *a = home_arena(p->home);
    const allm_error *error = options_read(o, p->home, opts);
    if (error)
        return error;
    call_plan_adopt(p, NULL);
    p->call.request_id = o->request_id ? arena_text(a, o->request_id)
                                       : trace_id(core->random, a);
    return p->call.request_id ? NULL : status_nomem();
}

/* Members of the caller's struct, which may be shorter than ours. */
static const allm_model_ref *ref_of(const allm_request *given)
{
    return given && MEM_REACHES(given, model_ref) ? given->model_ref : NULL;
}

static const char *model_of(const allm_request *given)
{
    return given && MEM_REACHES(given, model) ? given->model : NULL;
}

const char *call_plan_model(const struct call_plan *p, const struct options *o,
                            const allm_request *given)
{
    if (!o->model && ref_of(given))
        return ref_of(given)->id;
    return engine_model(p->engine, o, model_of(given));
}

/* ------------------------------------------------------------------- guards --- */

/* Nobody can be asked: the model's provider is not known, or not named. */
static const allm_error *no_adapter(struct call_plan *p, const char *model)
{
    return status_error(
        home_arena(p->home), ALLM_ERR_ENGINE, "missing_adapter",
        "the engine has no adapter%s%.100s%s; set .adapter, or a model such as "
        "\"fake:m\"",
        model ? ", and the model \"" : "", model ? model : "",
        model ? "\" has no known provider in front" : "");
}

/* The adapter, and what the engine itself has to say. */
static const allm_error *check_engine(struct call_plan *p, const char *model)
{
    const allm_error *broken = allm_engine_error(p->engine);
    if (broken)
        return broken;
    if (!p->row)
        return no_adapter(p, model);
    const allm_adapter *a = p->row->adapter;
    if ((a->flags & ALLM_ADAPTER_NO_STREAM) || (!a->next && !a->decode))
        return wrong(p, ALLM_ERR_ENGINE, "missing_stream_adapter",
                     "the engine's adapter cannot stream; give one with next "
                     "or decode");
    return NULL;
}

/* What the engine's params say where the call says nothing. */
static const allm_error *take_defaults(struct call_plan *p, struct options *o,
                                       struct options *d)
{
    const allm_json *params = engine_record(p->engine)->params;
    bool any = allm_json_count(params) > 0;
    const allm_error *error =
        options_read(d, p->home, any ? ALLM(call_opts, .json = params) : NULL);
    if (error)
        return error;
    options_inherit(o, d);
    error = options_tools(o, p->home);
    if (error)
        return error;
    p->terms = terms_of(o, p->row);
    return NULL;
}

/* The caller's request, held, with the fields resolved. */
static const allm_error *take_request(struct call_plan *p,
                                      const struct options *o,
                                      const struct options *d,
                                      const allm_request *given)
{
    const allm_error *error = status_nomem();
    allm_request *mine = shape_keep(&request_shape, given,
                                    engine_core(p->engine)->mem,
                                    home_arena(p->home), &error);
    if (!mine)
        return error;
    error = status_nomem();
    if (home_hold(p->home, mine->home)) {
        p->request = *mine;
        p->request.home = NULL;
        p->call.request = &p->request;
        const allm_error *why = status_nomem();
        error = resolve_request(&p->request, p->engine, o, d, p->home, &why)
                    ? NULL
                    : why;
    }
    home_drop(mine->home);
    return error;
}

/* Names may have colons themselves ("llama3:8b"): only a provider that is known
 * stands in front of one. */
static bool is_provider(const struct call_plan *p, struct slice name)
{
    return name.ptr && (slice_is(name, p->row->name) || registry_find(name));
}

/* Provider and bare name, for the wire. */
static const allm_error *take_model(struct call_plan *p)
{
    const allm_request *r = &p->request;
    struct slice provider = { NULL, 0 }, id = { NULL, 0 };
    struct arena *a = home_arena(p->home);
    if (r->model_ref) {
        p->call.model = r->model_ref->id;
    } else if (r->model) {
        model_ref_split(slice_of(r->model), &provider, &id);
        p->call.model = is_provider(p, provider) ? arena_copy(a, id) : r->model;
    }
    /* whoever the model names: the key goes to whom the adapter asks */
    p->call.provider = p->row->name;
    if (!p->call.model && p->row->adapter->encode && !p->free_model)
        return wrong(p, ALLM_ERR_ENGINE, "missing_model",
                     "no model: set it in the call, the request or the engine, "
                     "such as \"openai:gpt-4.1-mini\"");
    return a->broken ? status_nomem() : NULL;
}

/* What the catalog knows may forbid the call. */
static const allm_error *preflight(struct call_plan *p, const struct trace *t)
{
    allm_request *r = &p->request;
    const allm_catalog *catalog = engine_core(p->engine)->catalog;
    const allm_adapter *adapter = p->row->adapter;
    p->ref = catalog ? r->model_ref : NULL;
    if (!p->ref && !catalog_find(catalog, r->model, &p->ref))
        return status_nomem();
    if (catalog && r->model && !p->ref)
        trace_warn(t, p->call.request_id, r->model, "unknown_model");
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

/* Unless a loop has done so. */
static const allm_error *take_options(struct call_plan *p,
                                      const struct options *o)
{
    if (p->call.options)
        return NULL;
    return call_plan_options(p->engine, o, home_arena(p->home),
                             &p->call.options, &p->call.adapter_opts);
}

/* -------------------------------------------------------------------- where --- */

/* Without the slashes at its end. */
static const char *trim_url(struct arena *a, const char *url)
{
    struct slice s = slice_of(url);
    while (s.len && s.ptr[s.len - 1] == '/')
        s.len--;
    return arena_copy(a, s);
}

static const char *option_text(const allm_json *options, const char *name)
{
    return allm_json_text(allm_json_get(options, name), NULL);
}

/* Which of its dialects a provider is asked in: the caller's choice, or what
 * fits the model. */
static const allm_error *take_dialect(struct call_plan *p)
{
    const char *api = option_text(p->call.options, "api");
    if (!api)
        api = option_text(p->call.adapter_opts, "api");
    if (!registry_for(p->row, p->call.model, api, &p->chosen))
        return wrong(p, ALLM_ERR_MISUSE, "invalid_option",
                     "api must be \"chat\" or \"responses\"; leave it out to "
                     "let the model's name decide");
    p->row = &p->chosen;
    return NULL;
}

/* An address that we cannot read must not send the request elsewhere. */
static bool is_odd_url(const allm_json *options)
{
    const allm_json *url = allm_json_get(options, "base_url");
    const char *text = allm_json_text(url, NULL);
    return text ? !text[strspn(text, "/")]
                : url && !json_is_type(url, ALLM_JSON_NULL);
}

/* The path of a request would stand behind a fragment, which is never sent. */
static const allm_error *check_fragment(struct call_plan *p)
{
    struct arena *a = home_arena(p->home);
    if (!p->call.base_url || !strchr(p->call.base_url, '#'))
        return NULL;
    struct slice shown = request_json_url(a, slice_of(p->call.base_url), NULL);
    if (!shown.ptr)
        return status_nomem();
    return status_error(a, ALLM_ERR_ENGINE, "invalid_engine",
                        "base_url must be an address without a fragment, such "
                        "as \"https://example.org/v1\", and is \"%.1000s\"; "
                        "take out the \"#\" and what follows",
                        shown.ptr);
}

/* The address: the caller's, the environment's, or the provider's own.  A
 * server that nobody knows may be given a name, for its key. */
static const allm_error *take_place(struct call_plan *p)
{
    struct arena *a = home_arena(p->home);
    const struct registry_row *row = p->row;
    const char *name = option_text(p->call.adapter_opts, "provider");
    const char *url = option_text(p->call.options, "base_url");
    if (is_odd_url(p->call.options) || is_odd_url(p->call.adapter_opts))
        return wrong(p, ALLM_ERR_MISUSE, "invalid_option",
                     "base_url must be a text such as "
                     "\"https://example.org/v1\"; leave it out for the "
                     "provider's own address");
    p->call.quirks = row->quirks;
    if (!row->base_url && name)
        p->call.provider = name;
    if (!url)
        url = option_text(p->call.adapter_opts, "base_url");
    if (url)
        p->call.base_url = trim_url(a, url);
    else if (row->base_url_env)
        p->call.base_url = trim_url(a, keys_env(engine_core(p->engine)->keys,
                                                row->base_url_env, a));
    if (!p->call.base_url || !*p->call.base_url)
        p->call.base_url = row->base_url;
    return a->broken ? status_nomem() : check_fragment(p);
}

/* ---------------------------------------------------------------------- key --- */

/* The header's value: prefix and key. */
static bool write_value(struct secret *out, struct mem mem, const char *prefix,
                        const struct secret *key)
{
    struct mem inner = mem;
    struct arena a;
    struct buf text;
    arena_init(&a, secret_mem(&inner));
    buf_init(&text, &a, 64 * 1024);
    buf_text(&text, prefix ? prefix : "");
    buf_add(&text, (struct slice){ key->ptr, key->len });
    bool ok = !text.broken && secret_set(out, mem, buf_slice(&text));
    arena_release(&a);
    return ok;
}

/* A key that would end the header and begin another. */
static bool is_odd(const struct secret *key)
{
    for (size_t i = 0; i < key->len; i++)
        if ((unsigned char)key->ptr[i] < ' ' || key->ptr[i] == 0x7f)
            return true;
    return false;
}

static const allm_error *store_key(struct call_plan *p,
                                   const struct secret *key)
{
    const struct registry_row *row = p->row;
    const char *prefix = row->auth_header ? row->auth_prefix
                                          : row->adapter->auth_prefix;
    if (is_odd(key))
        return wrong(p, ALLM_ERR_MISUSE, "invalid_key",
                     "the key has a control character in it, such as a line "
                     "break at its end; give it without");
    p->key = arena_zero(home_arena(p->home), sizeof *p->key);
    if (!p->key ||
        !write_value(p->key, engine_core(p->engine)->mem, prefix, key))
        return status_nomem();
    return NULL;
}

/* A key goes only where it belongs: to a provider with a place of its own, its
 * own; elsewhere that of the model's provider. */
static const allm_error *take_key(struct call_plan *p, const struct options *o)
{
    const struct registry_row *row = p->row;
    const char *whose = row->base_url ? row->name : p->call.provider;
    struct secret key = { .ptr = NULL };
    const char *source;
    if (!row->auth_header && !row->adapter->auth_header)
        return NULL;
    const allm_error *error = keys_look_up(engine_core(p->engine)->keys, whose,
                                           o->api_key, home_arena(p->home),
                                           &key, &source);
    if (error && row->keyless && error->kind == ALLM_ERR_ENGINE)
        return NULL;
    if (!error)
        error = store_key(p, &key);
    secret_release(&key);
    return error;
}

void call_plan_release(struct call_plan *p)
{
    if (p->key)
        secret_release(p->key);
}

/* The conversation of a loop: shared, however long it is. */
static const allm_error *take_turn(struct call_plan *p, const struct options *o,
                                   const struct call_plan_turn *turn)
{
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
    resolve_fields(r, p->engine, o, o);  /* o has the defaults, too */
    p->call.request = r;
    p->call.options = turn->options;
    p->call.adapter_opts = turn->adapter_opts;
    return NULL;
}

/* Only what a turn before has not checked. */
static const allm_error *check_turn(const struct call_plan *p,
                                    const struct call_plan_turn *turn,
                                    struct arena *scratch)
{
    allm_request news = p->request;
    if (!turn->checked)
        return validate_request(scratch, &news);
    if (turn->checked >= news.message_count)
        return NULL;
    news.messages += turn->checked;
    news.message_count -= turn->checked;
    news.tools = NULL;
    news.tool_count = 0;
    return validate_request(scratch, &news);
}

/* Options of the provider's own, where the adapter looks for them: the call's
 * before the request's before the engine's. */
static const allm_error *join_options(struct call_plan *p,
                                      const struct options *o)
{
    struct arena *a = home_arena(p->home);
    const allm_json *both = p->call.options, *given;
    allm_request *r = &p->request;
    if (allm_json_count(both) == 0)
        return NULL;
    if (allm_json_count(r->options) == 0) {
        r->options = both;
        return NULL;
    }
    given = options_only(a, o->all, 1u << OPTION_PROVIDER);
    both = given ? json_merge(a, both, r->options) : NULL;
    r->options = both ? json_merge(a, both, given) : NULL;
    return r->options ? NULL : status_nomem();
}

/* What follows when the request is well formed. */
static const allm_error *check_rest(struct call_plan *p,
                                    const struct options *o,
                                    const struct trace *t)
{
    const allm_error *error = take_model(p);
    if (!error)
        error = preflight(p, t);
    if (!error && p->row->adapter->encode)
        error = images_load(&p->request, p->home);
    if (!error)
        error = take_options(p, o);
    if (!error)
        error = join_options(p, o);
    if (!error)
        error = take_dialect(p);
    if (!error)
        error = take_place(p);
    return error ? error : take_key(p, o);
}

const allm_error *call_plan_check(struct call_plan *p, struct options *o,
                                  const allm_request *given,
                                  struct arena *scratch, const struct trace *t)
{
    struct options d;           /* what the engine's params say */
    const char *model = call_plan_model(p, o, given);
    p->row = engine_row_for(p->engine, model, o->model ? NULL : ref_of(given));
    const allm_error *error = check_engine(p, model);
    if (!error)
        error = take_defaults(p, o, &d);
    if (!error)
        error = take_request(p, o, &d, given);
    if (!error)                 /* what it writes is not needed later */
        error = validate_request(scratch, &p->request);
    return error ? error : check_rest(p, o, t);
}

const allm_error *call_plan_check_turn(struct call_plan *p,
                                       const struct options *o,
                                       const struct call_plan_turn *turn,
                                       struct arena *scratch,
                                       const struct trace *t)
{
    const char *model = call_plan_model(p, o, NULL);
    p->row = engine_row_for(p->engine, model, NULL);
    const allm_error *error = check_engine(p, model);
    if (error)
        return error;
    p->terms = terms_of(o, p->row);
    error = take_turn(p, o, turn);
    if (!error)
        error = check_turn(p, turn, scratch);
    return error ? error : check_rest(p, o, t);
}

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

/* Where an image lies, and nothing of who makes another of it. */
static void take_address(struct call_plan *p, const struct options *o,
                         const struct call_plan_task *task)
{
    p->terms = terms_of(o, p->row);
    p->terms.raw_chunks = true;     /* one of them is the result */
    p->terms.on_event = NULL;
    if (!p->terms.total_ms || p->terms.total_ms > FETCH_MS)
        p->terms.total_ms = FETCH_MS;
    p->request = (allm_request){ .size = sizeof p->request,
                                 .options = json_empty_object(),
                                 .metadata = json_empty_object() };
    p->call.request = &p->request;
    p->call.options = p->call.adapter_opts = json_empty_object();
    p->call.provider = p->row->name;
    p->call.base_url = task->fetch;
}

/* Whom to ask, and by which of its dialects. */
static const allm_error *take_task(struct call_plan *p, const struct options *o,
                                   const struct call_plan_task *task)
{
    static const char *const lacks[] = { [TASKS_EMBED] = "no_embed_adapter",
                                         [TASKS_IMAGE] = "no_image_adapter",
                                         [TASKS_MODERATE] =
                                             "no_moderation_adapter",
                                         [TASKS_MODELS] = "no_models_adapter" };
    const allm_error *broken = allm_engine_error(p->engine);
    if (broken)
        return broken;
    if (!p->row || !tasks_find(p->row, task->kind))
        return status_error(
            home_arena(p->home), ALLM_ERR_ENGINE, lacks[task->kind],
            "%s is nothing that %s can do here; choose another "
            "provider by the model's name, such as \"openai:...\"",
            task->name, p->row ? p->row->name : "no provider");
    p->chosen = tasks_row(p->row, task->kind);
    p->row = &p->chosen;
    p->terms = terms_of(o, p->row);
    p->terms.raw_chunks = true;     /* one of them is the result */
    return NULL;
}

/* The dialects of tasks read the request's options only. */
static void take_asked(struct call_plan *p, const struct call_plan_task *task)
{
    p->request = (allm_request){ .size = sizeof p->request,
                                 .model = task->no_model ? NULL
                                                         : task->model,
                                 .options = task->own ? task->own
                                                      : json_empty_object(),
                                 .metadata = json_empty_object() };
    p->free_model = task->kind == TASKS_MODERATE || task->kind == TASKS_MODELS;
    p->call.request = &p->request;
    p->call.embed = task->embed;
    p->call.image = task->image;
    p->call.moderation = task->moderation;
    p->call.options = task->options;
    p->call.adapter_opts = task->adapter_opts;
}

const allm_error *call_plan_check_task(struct call_plan *p,
                                       const struct options *o,
                                       const struct call_plan_task *task,
                                       const struct trace *t)
{
    p->row = call_plan_task_row(p->engine, task->kind, task->model);
    if (task->kind == TASKS_FETCH) {
        take_address(p, o, task);
        return NULL;
    }
    const allm_error *error = take_task(p, o, task);
    if (error)
        return error;
    take_asked(p, task);
    error = take_model(p);
    if (!error)
        error = preflight(p, t);
    if (!error && task->image)
        error = catalog_preflight_image(p->ref, task->image,
                                        home_arena(p->home));
    if (!error)
        error = take_place(p);
    return error ? error : take_key(p, o);
}
