/* call_plan.h - check a call and prepare everything it needs to run */
#pragma once

#include "engine/trace.h"
#include "provider/tasks.h"
#include "run/call_plan_parts.h"

/*
 * The source of a call: a request of allm_generate(), a turn of a chat or an
 * agent (it has a thread), or a request of a task, such as an embedding.  All
 * members are borrowed; the options must live until the machine is freed.
 */
struct call_spec {
    const char *name;           /* of its span: "generate", "embed" */
    bool dry_run;               /* only check the call, without traces */

    /* For a request: the caller's arguments. */
    const allm_request *request;
    const allm_call_opts *call_opts;

    /* For turns and tasks: already read by the call they belong to. */
    const char *request_id;
    const int64_t *deadline_ns; /* the deadline of the whole call */
    const struct options *options;  /* with the engine's defaults */
    const allm_json *provider_options, *adapter_opts;   /* for the adapter */

    /* For a turn. */
    const allm_thread *thread;  /* shared */
    size_t checked_count;       /* leading messages that are valid */
    size_t tool_count;          /* as the model sees them */
    const allm_tool *const *tools;
    bool structured_finalize;
    bool deferred;              /* make the call at the first pull */

    /* For a task. */
    enum tasks_kind kind;
    const char *model;          /* by precedence; or NULL */
    const allm_json *request_options;   /* its own; or NULL */
    const allm_embed_request *embed;
    const allm_image_request *image;
    const allm_moderation_request *moderation;
    const char *fetch;          /* a URL, for TASKS_FETCH */
    bool no_model;              /* the model only selects the provider */
};

/* The state of planning.  It is on the stack, so an idle stream needs no memory
 * for it. */
struct call_planning {
    struct call_plan *plan;
    const struct call_spec *spec;
    const struct call_kind *kind;
    const struct options *options;  /* of the spec, or own_options */
    struct options own_options; /* of a request */
    struct options defaults;    /* the engine's params */
    const char *model;          /* by precedence, for traces; or NULL */
    struct arena *scratch;
    const struct trace *trace;
};

/*
 * Read what traces need: the options, the request id and the model.  The caller
 * sets the engine and the home of the plan.  Returns NULL, or the error.
 */
const allm_error *call_plan_begin(struct call_planning *w, struct call_plan *p,
                                  const struct call_spec *spec);

/*
 * Run the checks, in the order in which their errors are reported: engine,
 * request, model, capabilities, options, key.  Returns NULL, or the error,
 * which lives as long as the home and `scratch`.
 */
const allm_error *call_plan_check(struct call_planning *w,
                                  struct arena *scratch, const struct trace *t);

/* The options for the provider, without those that only this library uses, and
 * the options for the adapter, in the arena.  Returns NULL, or the error. */
const allm_error *call_plan_options(const allm_engine *e,
                                    const struct options *o, struct arena *a,
                                    const allm_json **options,
                                    const allm_json **adapter_opts);

/* The deadline, by total_ms, of a call that begins now; INT64_MAX: none. */
int64_t call_plan_deadline_ns(const allm_engine *e, const struct options *o);

/* The provider of a task; NULL: the engine has none. */
const struct registry_row *call_plan_task_row(const allm_engine *e,
                                              enum tasks_kind kind,
                                              const char *model);

/* Wipe the key. */
void call_plan_release(struct call_plan *p);
