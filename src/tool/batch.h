/*
 * batch.h - run the tool calls of one turn
 *
 * A batch never blocks: batch_next() returns EVENT, AGAIN with a time, or OK.
 */
#pragma once

#include "tool/approval.h"
#include "tool/batch_opts.h"
#include "tool/batch_shared.h"

struct batch;

/*
 * Calls and tools are copied, or shared if they are reference-counted.  An
 * unknown tool (kind ENGINE) or misuse is found here, before anything runs;
 * batch_error() returns it.  NULL: out of memory.
 */
struct batch *batch_new(const struct tool_env *env, size_t count,
                        const allm_tool_call *const *calls, size_t tool_count,
                        const allm_tool *const *tools,
                        const struct batch_opts *opts);

/*
 * EVENT: *event is valid until the next call.  AGAIN: call again at *again_ns,
 * or earlier if the waker is rung (INT64_MAX: only then).  OK: all calls are
 * done.  < 0: misuse or out of memory.  For an unknown tool the batch emits one
 * error event, then returns OK.
 */
allm_status batch_next(struct batch *b, allm_event **event, int64_t *again_ns);

/* The error of a call whose tool is not declared, in the arena.  NULL: out of
 * memory. */
const allm_error *batch_unknown_tool(struct arena *a, const char *name);

/* Stop waiting: running functions are abandoned, queued ones never begin.
 * The results so far stay valid. */
void batch_stop(struct batch *b);
void batch_free(struct batch *b);       /* accepts NULL */

/* Why nothing ran, or that memory ran out; NULL if neither happened. */
const allm_error *batch_error(const struct batch *b);

/* The results in the order of the calls; a result is valid once its `done` is
 * set.  They and their messages live until batch_free().  NULL: not found. */
size_t batch_count(const struct batch *b);
const struct tool_result *batch_at(const struct batch *b, size_t index);

/* The approval of a call that a gate left undecided: the call did not begin and
 * has no result.  NULL: it was not left. */
const struct allm_approval *batch_left(const struct batch *b, size_t index);

/* The result of the call that the last event ended; NULL if it ended none. */
const struct tool_result *batch_ended(const struct batch *b);

/* Did late_ns end a call, or prevent it from beginning?  That call has failed
 * with a timeout. */
bool batch_was_cut(const struct batch *b);

/* The result of the first call that halts the chat; NULL: none so far. */
const struct tool_result *batch_halt(const struct batch *b);
