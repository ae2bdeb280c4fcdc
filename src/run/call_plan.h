/* call_plan.h - a call before it runs: checked, with everything that it needs */
#ifndef RUN_CALL_PLAN_H
#define RUN_CALL_PLAN_H

#include "base/secret.h"
#include "engine/engine.h"
#include "engine/trace.h"
#include "provider/tasks.h"

/* What of the options counts while the call runs. */
struct terms {
    bool text_deltas, tool_deltas, raw_chunks;  /* are delivered */
    uint32_t connect_ms, first_ms, silence_ms, total_ms; /* total may be 0 */
    allm_event_fn on_event;
    void *on_event_ud;
};

struct call_plan {
    allm_engine *engine;            /* kept by the machine */
    const struct registry_row *row; /* whom to ask */
    struct registry_row chosen;     /* the same, in the dialect of the call */
    struct allm_home *home;         /* owns what the call needs */
    allm_call call;
    allm_request request;           /* as the adapter gets it */
    const allm_model_ref *ref;      /* what the catalog knows; or NULL */
    bool free_model;                /* it may be left to the provider */
    struct terms terms;
    struct secret *key;             /* as the header carries it; or NULL */
};

/* A call from inside, by a loop that has read the options. */
struct call_plan_turn {
    const char *request_id;
    const int64_t *late_ns;         /* when the whole call is late */
    const allm_thread *thread;      /* shared */
    size_t checked;                 /* of its messages: known to be fine */
    size_t tool_count;              /* as they go over the wire; borrowed */
    const allm_tool *const *tools;
    bool structured_finalize;
    const allm_json *options;       /* by call_plan_options(); borrowed, too */
    const allm_json *adapter_opts;
};

/* A call that is no conversation: one request, one answer. */
struct call_plan_task {
    enum tasks_kind kind;
    const char *name;               /* of its span: "embed" */
    const char *request_id;
    const int64_t *late_ns;         /* when the whole call is late */
    const char *model;              /* by precedence; or NULL */
    const allm_json *own;           /* options of the request; or NULL */
    const allm_json *options;       /* by call_plan_options(); borrowed */
    const allm_json *adapter_opts;
    const allm_embed_request *embed;
    const allm_image_request *image;
    const allm_moderation_request *moderation;
    const char *fetch;              /* an address, for TASKS_FETCH */
    bool no_model;                  /* the model only tells whom to ask */
    bool dry;                       /* nothing will be sent: no traces */
};

/*
 * The options, the id and the terms of a call whose engine and home are set.
 * NULL, or what is wrong, as call_plan_check() tells it.
 */
const allm_error *call_plan_begin(struct call_plan *p,
                                  const allm_call_opts *opts,
                                  struct options *o);

/* The same, of a loop's options. */
void call_plan_adopt(struct call_plan *p, const char *request_id);

/* Options for the adapter, neither the loop's nor the filter's, and those of
 * its own, in the arena.  NULL, or what is wrong. */
const allm_error *call_plan_options(const allm_engine *e,
                                    const struct options *o, struct arena *a,
                                    const allm_json **options,
                                    const allm_json **adapter_opts);

/* When a call that begins now is late by its total_ms; INT64_MAX: never. */
int64_t call_plan_late_ns(const allm_engine *e, const struct options *o);

/* The name of the model, for traces; NULL: none. */
const char *call_plan_model(const struct call_plan *p, const struct options *o,
                            const allm_request *given);

/*
 * The guards, in the order that their errors are told: engine, request, model,
 * capabilities, options, key.  NULL, or the error, alive as long as the home
 * and `scratch`.
 */
const allm_error *call_plan_check(struct call_plan *p, struct options *o,
                                  const allm_request *given,
                                  struct arena *scratch, const struct trace *t);

/* The same for a turn of a loop. */
const allm_error *call_plan_check_turn(struct call_plan *p,
                                       const struct options *o,
                                       const struct call_plan_turn *turn,
                                       struct arena *scratch,
                                       const struct trace *t);

/* The same for a task. */
const allm_error *call_plan_check_task(struct call_plan *p,
                                       const struct options *o,
                                       const struct call_plan_task *task,
                                       const struct trace *t);

/* Who would be asked for that; NULL: nobody can. */
const struct registry_row *call_plan_task_row(const allm_engine *e,
                                              enum tasks_kind kind,
                                              const char *model);

/* Wipe the key. */
void call_plan_release(struct call_plan *p);

#endif
