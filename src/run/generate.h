/* generate.h - one answer of a model: the machine behind every call */
#ifndef RUN_GENERATE_H
#define RUN_GENERATE_H

#include "engine/engine.h"
#include "run/call_plan.h"
#include "run/collect.h"
#include "run/machine.h"

/*
 * Check and open a call.  Never NULL but for lack of memory: a machine that
 * could not begin fails at its first next(), and error() says why at once.
 * The waker is rung by the transport; it must outlive the machine.
 */
struct machine *generate_machine(const allm_engine *e, const allm_request *r,
                                 const allm_call_opts *opts, allm_waker *waker);

/*
 * The same for a turn of a loop: the options were read before and outlive the
 * machine; events are folded into `collect`, which is the loop's.
 */
struct machine *generate_turn(const allm_engine *e, const struct options *o,
                              const struct call_plan_turn *turn,
                              struct collect *collect, allm_waker *waker);

/* The same for a task: its one raw_chunk is the result. */
struct machine *generate_task(const allm_engine *e, const struct options *o,
                              const struct call_plan_task *task,
                              allm_waker *waker);
/* What the provider calls its answer, by a header; NULL: nothing. */
const char *generate_answer_id(const struct machine *m);

#endif
