/*
 * task.h - a call that is not a chat: requests with one result each
 *
 * The machine of a task runs generate.c once for each request, reads the result
 * from its events, and delivers none of them.
 */
#pragma once

#include "run/call_plan.h"
#include "run/machine.h"

struct task;

/* The differences between tasks. */
struct task_kind {
    enum tasks_kind kind;
    const char *name;           /* "embed" */
    const char *invalid;        /* the reason if a request is rejected */
    size_t size;                /* of the struct that begins with struct task */
    /* Copy and check the request; NULL: there is none.  Returns NULL, or the
     * error. */
    const allm_error *(*begin)(struct task *t, const void *request);
    /* Fill in the next request; kind and name, too, if it is of another kind.
     * False: there are no more. */
    bool (*next_request)(struct task *t, struct call_spec *out);
    /* Read the result of a request, which is borrowed.  Returns NULL, or the
     * error. */
    const allm_error *(*read_result)(struct task *t, const allm_json *result);
    /* A TASKS_FETCH has failed.  Returns NULL to continue with next_request(),
     * or the error of the call. */
    const allm_error *(*recover)(struct task *t, const allm_error *error);
    /* All results are there: make the value, in the home.  NULL: out of
     * memory. */
    const void *(*finish)(struct task *t);
};

struct task {
    struct machine machine;
    const struct task_kind *kind;
    struct mem mem;
    struct allm_home *home;     /* owns the task */
    allm_engine *engine;
    allm_stream *stream;
    struct options options;
    struct secret key;          /* the call's, wiped at the end */
    const char *request_id;
    const allm_json *provider_options, *adapter_opts;
    const char *request_model;  /* the request's; set by begin() */
    int64_t deadline_ns;        /* by total_ms */
    bool pulled;
    struct machine *request_machine;    /* of the current request; or NULL */
    bool has_result;            /* its result has arrived */
    bool fetching;              /* it is only a TASKS_FETCH */
    size_t done_requests;       /* requests that have succeeded */
    size_t done_inputs;         /* their inputs; counted by read_result() */
    allm_usage usage;           /* the sum of all requests */
    const char *id, *model;     /* of the last answer; or NULL */
    const char *header_id;      /* its id from a header; or NULL */
    const allm_error *error;
    struct task_result result;  /* its value is NULL before the end */
};

allm_stream *task_stream(const allm_engine *e, const struct task_kind *kind,
                         const void *request, const allm_call_opts *opts);

/* A request of the task's kind, without its content. */
struct call_spec task_call_spec(const struct task *t);

/* The error if this request would be rejected before it is sent; else NULL. */
const allm_error *task_check(struct task *t, const struct call_spec *call);

/* Format an error in the home; never NULL. */
const allm_error *task_error(struct task *t, allm_status kind,
                             const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
