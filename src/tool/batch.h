/*
 * batch.h - the calls of one turn as a machine
 *
 * It never waits: batch_next() answers EVENT, AGAIN with a time, or OK.
 */
#ifndef TOOL_BATCH_H
#define TOOL_BATCH_H

#include "tool/batch_opts.h"
#include "tool/batch_shared.h"

struct batch;

/*
 * Calls and tools are copied, or shared where they are counted.  Never NULL
 * but for lack of memory: ask batch_error().  An unknown tool (kind ENGINE)
 * or misuse is found here, before anything runs.
 */
struct batch *batch_new(const struct tool_env *env, size_t count,
                        const allm_tool_call *const *calls, size_t tool_count,
                        const allm_tool *const *tools,
                        const struct batch_opts *opts);

/*
 * EVENT: *event is lent until the next call.  AGAIN: not before *again_ns
 * (INT64_MAX: when rung).  OK: all calls are done.  < 0: misuse or no memory.
 * Of an unknown tool one error event is told, then OK.
 */
allm_status batch_next(struct batch *b, allm_event **event, int64_t *again_ns);

/* Nobody waits any longer: functions that run are left alone, others never
 * begin.  Results so far stay. */
void batch_stop(struct batch *b);
void batch_free(struct batch *b);       /* NULL is fine */

/* Why nothing could run, or memory ran out; else NULL. */
const allm_error *batch_error(const struct batch *b);

/* The results, by the order of the calls; `done` says whether the rest counts.
 * They and their messages live until batch_free().  NULL: no such call. */
size_t batch_count(const struct batch *b);
const struct tool_result *batch_at(const struct batch *b, size_t index);

/* The result of the call that ended with the last event; else NULL. */
const struct tool_result *batch_ended(const struct batch *b);

/* Did late_ns end a call, or keep it from beginning?  That call has failed with
 * a timeout. */
bool batch_was_cut(const struct batch *b);

/* Among the results that halt, that of the first call; NULL: none so far. */
const struct tool_result *batch_halt(const struct batch *b);

#endif
