/*
 * task.c - a call that is not a chat: requests with one result each
 *
 *      begin --> next_request --> generate --raw_chunk--> read_result
 *                     ^                                        |
 *                     '----------------------------------------+--> finish
 *
 * Invariants
 *   (1) The caller gets no events: a pull returns AGAIN, OK or a failure.
 *   (2) A failure, even in the middle of an answer, fails the whole call.  The
 *       metadata of the error say how many requests succeeded before it.
 *   (3) The result exists only after all requests have succeeded.
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

static struct task *as_task(struct machine *m)
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

/* -------------------------------------------------------------- errors --- */

static void free_request(struct task *t)
{
    if (t->request_machine)
        t->request_machine->ops->free(t->request_machine);
    t->request_machine = NULL;
}

/* The metadata of a failure after requests that succeeded; NULL: out of
 * memory. */
static const allm_json *progress_metadata(struct task *t,
                                          const allm_json *metadata)
{
    struct arena *a = home_arena(t->home);
    struct build b = build_object_in(a);
    build_uint_at(&b, "completed_chunks", t->done_requests);
    build_uint_at(&b, "completed_inputs", t->done_inputs);
    const allm_json *more = build_finish(&b);
    return more ? json_merge(a, metadata ? metadata : json_empty_object(), more)
                : NULL;
}

/* Keeps (2). */
static allm_status fail_task(struct task *t, const allm_error *error)
{
    const allm_error *kept = error_copy(t->home, error);
    bool image = t->kind->kind == TASKS_IMAGE && kept->kind == ALLM_ERR_ADAPTER;
    if (image || (t->done_requests && kept->kind != ALLM_ERR_NOMEM)) {
        allm_error *mine = arena_alloc(home_arena(t->home), sizeof *mine);
        if (mine) {
            *mine = *kept;
            mine->kind = image ? ALLM_ERR_IMAGE : kept->kind;
            if (t->done_requests)
                mine->metadata = progress_metadata(t, kept->metadata);
        }
        kept = mine && (mine->metadata || !t->done_requests) ? mine
                                                             : status_nomem();
    }
    t->error = kept;
    free_request(t);
    return kept->kind;
}

/* ------------------------------------------------------------ requests --- */

struct call_spec task_call_spec(const struct task *t)
{
    return (struct call_spec){
        .kind = t->kind->kind,
        .name = t->kind->name,
        .request_id = t->request_id,
        .deadline_ns = &t->deadline_ns,
        .options = &t->options,
        .provider_options = t->provider_options,
        .adapter_opts = t->adapter_opts,
        .model = engine_model(t->engine, &t->options, t->request_model),
    };
}

const allm_error *task_check(struct task *t, const struct call_spec *call)
{
    struct call_spec dry = *call;
    dry.dry_run = true;
    struct machine *m = generate_open(t->engine, &dry, NULL, t->stream);
    if (!m)
        return status_nomem();
    const allm_error *error = m->ops->error(m);
    error = error ? error_copy(t->home, error) : NULL;
    m->ops->free(m);
    return error;
}

/* Begin the next request; false: there is none, or it failed. */
static bool open_next_request(struct task *t)
{
    struct call_spec call = task_call_spec(t);
    if (t->error || !t->kind->next_request(t, &call))
        return false;
    t->has_result = false;
    t->fetching = call.kind == TASKS_FETCH;
    t->request_machine = generate_open(t->engine, &call, NULL, t->stream);
    const allm_error *error =
        t->request_machine ? t->request_machine->ops->error(t->request_machine)
                           : status_nomem();
    if (error)
        fail_task(t, error);
    return !error;
}

/* Store the response's usage, model and ids. */
static bool keep_response_fields(struct task *t, const allm_response *r)
{
    struct arena *a = home_arena(t->home);
    t->header_id = arena_text(a, generate_answer_id(t->request_machine));
    if (!r)
        return !a->broken;
    usage_sum(&t->usage, r->usage);
    if (r->model)
        t->model = arena_text(a, r->model);
    if (r->id)
        t->id = arena_text(a, r->id);
    return !a->broken;
}

/* A request has failed.  So does the call, unless the task can recover. */
static allm_status on_request_failure(struct task *t, const allm_error *error,
                                      int64_t *again_ns)
{
    if (!t->fetching)
        return fail_task(t, error);
    error = t->kind->recover(t, error);
    if (error)
        return fail_task(t, error);
    free_request(t);
    *again_ns = MACHINE_BUSY;
    return open_next_request(t) ? ALLM_AGAIN : t->error->kind;
}

/* A request has ended. */
static allm_status finish_request(struct task *t, int64_t *again_ns)
{
    const allm_error *error =
        t->request_machine->ops->error(t->request_machine);
    if (!error && !t->has_result)
        error = task_error(t, ALLM_ERR_ADAPTER, "malformed_response",
                           "the answer contains no result");
    if (!error && !t->fetching &&
        !keep_response_fields(t, t->request_machine->ops->response(
                                     t->request_machine)))
        error = status_nomem();
    if (error)
        return on_request_failure(t, error, again_ns);
    free_request(t);
    t->done_requests += !t->fetching;
    *again_ns = MACHINE_BUSY;
    if (open_next_request(t))
        return ALLM_AGAIN;
    if (t->error)
        return t->error->kind;
    t->result.value = t->kind->finish(t); /* keeps (3) */
    return t->result.value ? ALLM_OK : fail_task(t, status_nomem());
}

/* Keeps (1). */
static allm_status read_event(struct task *t, const allm_event *event,
                              int64_t *again_ns)
{
    const allm_error *error = NULL;
    *again_ns = MACHINE_BUSY;
    if (event->type == ALLM_EV_RAW_CHUNK && !t->has_result) {
        error = t->kind->read_result(t, event->chunk);
        t->has_result = true;
    }
    return error ? on_request_failure(t, error, again_ns) : ALLM_AGAIN;
}

static allm_status task_next(struct machine *m, allm_event **event,
                             int64_t *again_ns)
{
    struct task *t = as_task(m);
    if (!t->pulled)             /* The time for all requests together starts. */
        t->deadline_ns = call_plan_deadline_ns(t->engine, &t->options);
    t->pulled = true;
    if (t->error)
        return t->error->kind;
    if (!t->request_machine)
        return ALLM_OK;
    allm_status status = t->request_machine->ops->next(t->request_machine,
                                                       event, again_ns);
    if (status == ALLM_EVENT)
        return read_event(t, *event, again_ns);
    if (status == ALLM_OK)
        return finish_request(t, again_ns);
    return status < 0 ? on_request_failure(t,
                                           t->request_machine->ops->error(
                                               t->request_machine),
                                           again_ns)
                      : status;
}

/* ------------------------------------------------ stopping and results --- */

static void task_stop(struct machine *m, bool cancelled)
{
    struct task *t = as_task(m);
    if (t->request_machine)
        t->request_machine->ops->stop(t->request_machine, cancelled);
    if (cancelled && !t->error && !t->result.value)
        t->error = &error_cancelled;
}

static void task_free(struct machine *m)
{
    struct task *t = as_task(m);
    struct allm_home *home = t->home;
    allm_engine *engine = t->engine;
    free_request(t);
    secret_release(&t->key);
    home_drop(home);
    allm_engine_free(engine);
}

static const allm_error *task_last_error(const struct machine *m)
{
    return ((const struct task *)m)->error;
}

static bool task_failed(const struct machine *m, int64_t *again_ns)
{
    const struct task *t = (const struct task *)m;
    return t->error ||
           (t->request_machine &&
            t->request_machine->ops->failed(t->request_machine, again_ns));
}

static const char *task_request_id(const struct machine *m)
{
    return ((const struct task *)m)->request_id;
}

static const void *task_machine_result(const struct machine *m,
                                       enum machine_result which)
{
    const struct task *t = (const struct task *)m;
    return which == MACHINE_TASK && t->result.value ? &t->result : NULL;
}

static const struct machine_ops task_ops = {
    .next = task_next,
    .stop = task_stop,
    .free = task_free,
    .error = task_last_error,
    .failed = task_failed,
    .request_id = task_request_id,
    .result = task_machine_result,
};

/* ------------------------------------------------------- making a task --- */

static const allm_error *read_options(struct task *t,
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

static struct task *make_task(const allm_engine *e,
                              const struct task_kind *kind)
{
    struct mem mem = engine_core(e)->mem;
    struct allm_home *home = home_new(mem, 1024);
    struct task *t = home ? arena_zero(home_arena(home), kind->size) : NULL;
    if (!t) {
        home_drop(home);
        return NULL;
    }
    t->machine.ops = &task_ops;
    t->kind = kind;
    t->mem = mem;
    t->home = home;
    t->engine = allm_engine_keep(e);
    t->usage.size = sizeof t->usage;
    t->deadline_ns = INT64_MAX;
    t->result.name = kind->name;
    return t;
}

allm_stream *task_stream(const allm_engine *e, const struct task_kind *kind,
                         const void *request, const allm_call_opts *opts)
{
    if (!e || (!request && kind->begin))
        return refused_missing(e, kind->invalid, "request");
    allm_stream *s = stream_for(e);
    struct task *t = s ? make_task(e, kind) : NULL;
    if (!t)
        return s ? stream_begin(s, NULL) : NULL;
    t->stream = s;
    const allm_error *error = read_options(t, opts);
    if (!error && kind->begin)
        error = kind->begin(t, request);
    if (error)
        fail_task(t, error);
    else
        open_next_request(t);
    return stream_begin(s, &t->machine);
}
