/*
 * task.c - a call that is no conversation: requests with one answer each
 *
 *      begin --> ask --> generate --raw_chunk--> take --> ask ... --> close
 *
 * Invariants
 *   (1) Events are for this file only: a pull gives AGAIN, OK or a failure.
 *   (2) A failure, also in the middle of an answer, fails the whole call; its
 *       metadata tell how much went well before, if anything did.
 *   (3) The result is there when all requests went well, and not before.
 */
#include "run/task.h"

#include "base/status.h"
#include "data/error.h"
#include "data/usage.h"
#include "run/generate.h"
#include "run/refused.h"
#include "run/stream.h"
#include "json/build.h"
#include "json/json.h"

#include <stdarg.h>

static struct task *of(struct machine *m)
{
    return (struct task *)m;
}

const allm_error *task_error(struct task *t, allm_status kind,
                             const char *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const allm_error *e = status_verror(home_arena(t->home), kind, reason,
                                        format, args);
    va_end(args);
    return e;
}

/* ----------------------------------------------------------------- failing --- */

static void free_inner(struct task *t)
{
    if (t->inner)
        t->inner->ops->free(t->inner);
    t->inner = NULL;
}

/* The metadata of a failure behind requests that went well; NULL: no memory. */
static const allm_json *progress(struct task *t, const allm_json *metadata)
{
    struct build b;
    struct arena *a = home_arena(t->home);
    build_init(&b, a);
    build_object(&b);
    build_key(&b, SLICE("completed_chunks"));
    build_uint(&b, t->done);
    build_key(&b, SLICE("completed_inputs"));
    build_uint(&b, t->done_inputs);
    build_end(&b);
    const allm_json *more = build_done(&b);
    return more ? json_merge(a, metadata ? metadata : json_empty_object(), more)
                : NULL;
}

/* Keeps (2). */
static allm_status fail(struct task *t, const allm_error *error)
{
    const allm_error *kept = error_copy(t->home, error);
    bool image = t->kind->kind == TASKS_IMAGE && kept->kind == ALLM_ERR_ADAPTER;
    if (image || (t->done && kept->kind != ALLM_ERR_NOMEM)) {
        allm_error *mine = arena_alloc(home_arena(t->home), sizeof *mine);
        if (mine) {
            *mine = *kept;
            mine->kind = image ? ALLM_ERR_IMAGE : kept->kind;
            if (t->done)
                mine->metadata = progress(t, kept->metadata);
        }
        kept = mine && (mine->metadata || !t->done) ? mine : status_nomem();
    }
    t->error = kept;
    free_inner(t);
    return kept->kind;
}

/* ------------------------------------------------------------------ asking --- */

struct call_spec task_call(const struct task *t)
{
    return (struct call_spec){
        .kind = t->kind->kind,
        .name = t->kind->name,
        .request_id = t->request_id,
        .late_ns = &t->late_ns,
        .options = &t->options,
        .provider_options = t->provider_options,
        .adapter_opts = t->adapter_opts,
        .model = engine_model(t->engine, &t->options, t->given_model),
    };
}

const allm_error *task_try(struct task *t, const struct call_spec *call)
{
    struct call_spec dry = *call;
    dry.dry = true;
    struct machine *m = generate_open(t->engine, &dry, NULL, t->stream);
    if (!m)
        return status_nomem();
    const allm_error *error = m->ops->error(m);
    error = error ? error_copy(t->home, error) : NULL;
    m->ops->free(m);
    return error;
}

/* Begin the next request; false: there is none, or it failed. */
static bool open_next(struct task *t)
{
    struct call_spec call = task_call(t);
    if (t->error || !t->kind->ask(t, &call))
        return false;
    t->taken = false;
    t->fetching = call.kind == TASKS_FETCH;
    t->inner = generate_open(t->engine, &call, NULL, t->stream);
    const allm_error *error = t->inner ? t->inner->ops->error(t->inner)
                                       : status_nomem();
    if (error)
        fail(t, error);
    return !error;
}

/* What the response of a request tells besides its result. */
static bool note(struct task *t, const allm_response *r)
{
    struct arena *a = home_arena(t->home);
    t->header_id = arena_text(a, generate_answer_id(t->inner));
    if (!r)
        return !a->broken;
    usage_sum(&t->usage, r->usage);
    if (r->model)
        t->model = arena_text(a, r->model);
    if (r->id)
        t->id = arena_text(a, r->id);
    return !a->broken;
}

/* A request has failed: with it the call, unless that can be mended. */
static allm_status give_up(struct task *t, const allm_error *error,
                           int64_t *again_ns)
{
    if (!t->fetching)
        return fail(t, error);
    error = t->kind->mend(t, error);
    if (error)
        return fail(t, error);
    free_inner(t);
    *again_ns = MACHINE_BUSY;
    return open_next(t) ? ALLM_AGAIN : t->error->kind;
}

/* A request has ended. */
static allm_status advance(struct task *t, int64_t *again_ns)
{
    const allm_error *error = t->inner->ops->error(t->inner);
    if (!error && !t->taken)
        error = task_error(t, ALLM_ERR_ADAPTER, "malformed_response",
                           "the answer has no result in it");
    if (!error && !t->fetching && !note(t, t->inner->ops->response(t->inner)))
        error = status_nomem();
    if (error)
        return give_up(t, error, again_ns);
    free_inner(t);
    t->done += !t->fetching;
    *again_ns = MACHINE_BUSY;
    if (open_next(t))
        return ALLM_AGAIN;
    if (t->error)
        return t->error->kind;
    t->result.value = t->kind->close(t);        /* keeps (3) */
    return t->result.value ? ALLM_OK : fail(t, status_nomem());
}

/* Keeps (1). */
static allm_status heed(struct task *t, const allm_event *event,
                        int64_t *again_ns)
{
    const allm_error *error = NULL;
    *again_ns = MACHINE_BUSY;
    if (event->type == ALLM_EV_RAW_CHUNK && !t->taken) {
        error = t->kind->take(t, event->chunk);
        t->taken = true;
    }
    return error ? give_up(t, error, again_ns) : ALLM_AGAIN;
}

static allm_status task_next(struct machine *m, allm_event **event,
                             int64_t *again_ns)
{
    struct task *t = of(m);
    if (!t->pulled)             /* the time of all requests together begins */
        t->late_ns = call_plan_late_ns(t->engine, &t->options);
    t->pulled = true;
    if (t->error)
        return t->error->kind;
    if (!t->inner)
        return ALLM_OK;
    allm_status status = t->inner->ops->next(t->inner, event, again_ns);
    if (status == ALLM_EVENT)
        return heed(t, *event, again_ns);
    if (status == ALLM_OK)
        return advance(t, again_ns);
    return status < 0 ? give_up(t, t->inner->ops->error(t->inner), again_ns)
                      : status;
}

/* ------------------------------------------------------------------ ending --- */

static const allm_error cancelled_error = {
    .size = sizeof(allm_error),
    .kind = ALLM_ERR_STREAM,
    .reason = "cancelled",
    .message = "the call was cancelled",
};

static void task_stop(struct machine *m, bool cancelled)
{
    struct task *t = of(m);
    if (t->inner)
        t->inner->ops->stop(t->inner, cancelled);
    if (cancelled && !t->error && !t->result.value)
        t->error = &cancelled_error;
}

static void task_free(struct machine *m)
{
    struct task *t = of(m);
    struct allm_home *home = t->home;
    allm_engine *engine = t->engine;
    free_inner(t);
    secret_release(&t->key);
    home_drop(home);
    allm_engine_free(engine);
}

static const allm_error *task_why(const struct machine *m)
{
    return ((const struct task *)m)->error;
}

static bool task_failed(const struct machine *m, int64_t *again_ns)
{
    const struct task *t = (const struct task *)m;
    return t->error || (t->inner && t->inner->ops->failed(t->inner, again_ns));
}

static const allm_response *task_response(const struct machine *m)
{
    (void)m;
    return NULL;
}

static const char *task_request_id(const struct machine *m)
{
    return ((const struct task *)m)->request_id;
}

static const void *task_value(const struct machine *m,
                              enum machine_result which)
{
    const struct task *t = (const struct task *)m;
    return which == MACHINE_TASK && t->result.value ? &t->result : NULL;
}

static const struct machine_ops ops = {
    .next = task_next,
    .stop = task_stop,
    .free = task_free,
    .error = task_why,
    .failed = task_failed,
    .response = task_response,
    .request_id = task_request_id,
    .result = task_value,
};

/* --------------------------------------------------------------- beginning --- */

static const allm_error *take_options(struct task *t,
                                      const allm_call_opts *opts)
{
    struct arena *a = home_arena(t->home);
    struct options defaults, *o = &t->options;
    const allm_error *error = options_read(o, t->home, opts);
    if (!error)
        error = engine_defaults(t->engine, t->home, o, &defaults);
    if (!error)
        error = options_keep_key(o, &t->key, t->mem, a);
    if (!error)
        error = call_plan_options(t->engine, o, a, &t->provider_options,
                                  &t->adapter_opts);
    if (error)
        return error;
    t->request_id = engine_request_id(t->engine, o, a);
    return t->request_id ? NULL : status_nomem();
}

static struct task *make(const allm_engine *e, const struct task_kind *kind)
{
    struct mem mem = engine_core(e)->mem;
    struct allm_home *home = home_new(mem, 1024);
    struct task *t = home ? arena_zero(home_arena(home), kind->size) : NULL;
    if (!t) {
        home_drop(home);
        return NULL;
    }
    t->machine.ops = &ops;
    t->kind = kind;
    t->mem = mem;
    t->home = home;
    t->engine = allm_engine_keep(e);
    t->usage.size = sizeof t->usage;
    t->late_ns = INT64_MAX;
    t->result.name = kind->name;
    return t;
}

allm_stream *task_stream(const allm_engine *e, const struct task_kind *kind,
                         const void *given, const allm_call_opts *opts)
{
    if (!e || !given)
        return refused_missing(e, kind->invalid, "request");
    const struct engine_core *core = engine_core(e);
    allm_stream *s = stream_new(core->mem, core->clock, core->attachments);
    struct task *t = s ? make(e, kind) : NULL;
    if (!t)
        return s ? stream_begin(s, NULL) : NULL;
    t->stream = s;
    const allm_error *error = take_options(t, opts);
    if (!error)
        error = kind->begin(t, given);
    if (error)
        fail(t, error);
    else
        open_next(t);
    return stream_begin(s, &t->machine);
}
