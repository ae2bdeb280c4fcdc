/* ops.h - the table of the operations of scenario files */
#pragma once

#include "report.h"

/* Run an operation and report its outcome.  An invalid operation sets
 * s->fault. */
typedef void op_fn(struct scenario *s, const allm_json *op, struct report *r);

struct op {
    const char *name;
    const char *members;        /* in addition to op and expect */
    op_fn *run;
};

/* NULL if there is none with this name. */
const struct op *ops_find(const char *name);
/* The same, if it is one for sessions in a store. */
const struct op *ops_find_stored(const char *name);

op_fn op_generate, op_stream_generate;
op_fn op_step, op_stream_step, op_chat, op_stream, op_agent_loop;
op_fn op_session_new, op_session_append, op_restart;
op_fn op_session_submit, op_session_submit_many, op_session_approve;
op_fn op_session_start, op_session_stream_start;
op_fn op_session_reply, op_session_stream_reply, op_session_continue;
op_fn op_session_step, op_session_stream_step;
op_fn op_session_resume, op_session_settle, op_session_abandon;
op_fn op_session_fork, op_session_records, op_follow;
op_fn op_resolve_params, op_resolve_tools, op_resolve_model, op_merge_opts;
op_fn op_validate, op_round_trip, op_decode, op_collect;
