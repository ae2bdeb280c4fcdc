/*
 * task.h - a call that is no conversation: requests with one answer each
 *
 * The machine of such a call runs the one of generate.c, once for each
 * request, takes the result out of its events, and shows none of them.
 */
#ifndef RUN_TASK_H
#define RUN_TASK_H

#include "run/call_plan.h"
#include "run/machine.h"

struct task;

/* What differs from task to task. */
struct task_kind {
    enum tasks_kind kind;
    const char *name;               /* "embed" */
    const char *invalid;            /* why a request is refused */
    size_t size;                    /* of the struct that begins with a task */
    /* Keep and check what is asked.  NULL, or what is wrong. */
    const allm_error *(*begin)(struct task *t, const void *request);
    /* Fill in the next request (of another kind: kind and name); false: that
     * were all. */
    bool (*next_request)(struct task *t, struct call_spec *out);
    /* The result of a request, lent.  NULL, or what is wrong with it. */
    const allm_error *(*read_result)(struct task *t, const allm_json *result);
    /* A TASKS_FETCH has failed: NULL, ask once more; or what to fail with. */
    const allm_error *(*recover)(struct task *t, const allm_error *error);
    /* All results are there: the value, in the home.  NULL: no memory. */
    const void *(*finish)(struct task *t);
};

struct task {
    struct machine machine;
    const struct task_kind *kind;
    struct mem mem;
    struct allm_home *home;         /* owns all of it */
    allm_engine *engine;
    allm_stream *stream;
    struct options options;
    struct secret key;              /* the call's, wiped at the end */
    const char *request_id;
    const allm_json *provider_options, *adapter_opts;
    const char *request_model;        /* the request's; set by begin() */
    int64_t deadline_ns;                /* when total_ms is over */
    bool pulled;
    struct machine *request_machine;          /* the request that runs; or NULL */
    bool has_result;                     /* its result was there */
    bool fetching;                  /* it is only a TASKS_FETCH */
    size_t done_requests;                    /* requests that went well */
    size_t done_inputs;             /* their inputs; counted by take() */
    allm_usage usage;               /* of all of them */
    const char *id, *model;         /* of the last answer; or NULL */
    const char *header_id;          /* the same, by its header; or NULL */
    const allm_error *error;
    struct task_result result;      /* value NULL: not there yet */
};

allm_stream *task_stream(const allm_engine *e, const struct task_kind *kind,
                         const void *request, const allm_call_opts *opts);

/* A request of the task's kind, without what is asked. */
struct call_spec task_call_spec(const struct task *t);

/* Would this request be refused before it is sent?  Why; NULL: no. */
const allm_error *task_check(struct task *t, const struct call_spec *call);

/* An error in the home, as by printf; never NULL. */
const allm_error *task_error(struct task *t, allm_status kind,
                             const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
