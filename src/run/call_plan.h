/* call_plan.h - a call before it runs: checked, with everything that it needs */
#ifndef RUN_CALL_PLAN_H
#define RUN_CALL_PLAN_H

#include "engine/trace.h"
#include "provider/tasks.h"
#include "run/call_plan_parts.h"

/*
 * What a call is made for: a request of allm_generate(), a turn of a loop (it
 * has a thread), or a task, which is one request that is no conversation.
 * Everything is borrowed, and the options are until the machine is freed.
 */
struct call_spec {
    const char *name;               /* of its span: "generate", "embed" */
    bool dry_run;                       /* only check it: no traces */

    /* Of a request: the caller's own. */
    const allm_request *request;
    const allm_call_opts *call_opts;

    /* Of turns and tasks, which are parts of a call that has read these. */
    const char *request_id;
    const int64_t *deadline_ns;         /* when the whole call is late */
    const struct options *options;  /* with the engine's defaults */
    const allm_json *provider_options, *adapter_opts;   /* the adapter's */

    /* Of a turn. */
    const allm_thread *thread;      /* shared */
    size_t checked_count;                 /* its first messages known to be valid */
    size_t tool_count;              /* as they are sent */
    const allm_tool *const *tools;
    bool structured_finalize;

    /* Of a task. */
    enum tasks_kind kind;
    const char *model;              /* by precedence; or NULL */
    const allm_json *own;           /* options of the request; or NULL */
    const allm_embed_request *embed;
    const allm_image_request *image;
    const allm_moderation_request *moderation;
    const char *fetch;              /* an address, for TASKS_FETCH */
    bool no_model;                  /* the model only selects the provider */
};

/* A plan while it is made.  On the stack: a stream at rest has no room for it. */
struct call_planning {
    struct call_plan *plan;
    const struct call_spec *spec;
    const struct call_kind *kind;
    const struct options *options;  /* the spec's, or these: */
    struct options own, defaults;   /* a request's, and the engine's params */
    const char *model;              /* by precedence, for traces; or NULL */
    struct arena *scratch;
    const struct trace *trace;
};

/*
 * Read what traces need: the options and the id of the call, and its model.
 * The engine and the home of the plan are set.  NULL, or the error.
 */
const allm_error *call_plan_begin(struct call_planning *w, struct call_plan *p,
                                  const struct call_spec *spec);

/*
 * The guards, in the order in which their errors are reported: engine, request,
 * model, capabilities, options, key.  NULL, or the error, which lives as long as
 * the home and `scratch`.
 */
const allm_error *call_plan_check(struct call_planning *w,
                                  struct arena *scratch, const struct trace *t);

/* Options for the adapter, without those of loops and filters, and the
 * adapter's own, in the arena.  NULL, or the error. */
const allm_error *call_plan_options(const allm_engine *e,
                                    const struct options *o, struct arena *a,
                                    const allm_json **options,
                                    const allm_json **adapter_opts);

/* When a call that begins now is late by its total_ms; INT64_MAX: never. */
int64_t call_plan_deadline_ns(const allm_engine *e, const struct options *o);

/* The provider of a task; NULL: the engine has none. */
const struct registry_row *call_plan_task_row(const allm_engine *e,
                                              enum tasks_kind kind,
                                              const char *model);

/* Wipe the key. */
void call_plan_release(struct call_plan *p);

#endif
