/* operation.h - run a chat or step of a session and store its result there */
#pragma once

#include "session/state.h"

#include <stdint.h>

struct fold;

/* Begin a chat or a step, after appending `message` unless it is NULL.  If the
 * operation is refused, the stream has failed.  NULL: out of memory. */
allm_stream *operation_begin(const allm_engine *e, allm_session *s,
                             enum session_op op, const allm_message *message,
                             const allm_call_opts *opts);

/* An operation that was checked and can run. */
struct operation_plan {
    const char *word;           /* as the log has it: "reply" */
    const allm_thread *thread;  /* with the input */
    struct slice input;         /* the user's message; ptr NULL: none */
    allm_call_opts opts;        /* filled in */
    int64_t inbox_upto;         /* the input was sent, up to this row; or 0 */
    const struct fold *resumed; /* the operation that continues; or NULL */
    const allm_thread *sent;    /* of a replayed turn: without its messages;
                                   or NULL: `thread` */
    bool decided;               /* its first turn has calls that were decided
                                   later */
    const allm_journal_replay *again;   /* then: what the log gets again, before
                                           these calls; or NULL */
};

/* Run it.  The same result as above. */
allm_stream *operation_run(const allm_engine *e, allm_session *s,
                           const struct operation_plan *plan);

/* Copy the options and add the session's context and id.  False: the struct is
 * invalid, and the call rejects it. */
bool operation_opts(allm_call_opts *out, const allm_session *s,
                    const allm_call_opts *opts);

/* For a session in a store: NULL, or the error for options that only the
 * session sets. */
const allm_error *operation_own_opts(const allm_call_opts *opts,
                                     struct arena *a);

/* Stop the operation and leave it open in the store. */
void operation_let_go(struct operation *r);
