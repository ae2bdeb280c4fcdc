/* generate.h - one answer of a model: the machine behind every call */
#ifndef RUN_GENERATE_H
#define RUN_GENERATE_H

#include "engine/engine.h"
#include "run/call_plan.h"
#include "run/collect.h"
#include "run/machine.h"

/*
 * Check and open a call.  NULL means no memory: a machine that could not begin
 * fails at its first next(), and its error() is set at once.  Events are folded
 * into `collect`, which is the caller's; NULL: into one of its own.  The result
 * of a task is its one raw_chunk.  The stream must outlive the machine.
 */
struct machine *generate_open(const allm_engine *e,
                              const struct call_spec *spec,
                              struct collect *collect, allm_stream *stream);

/* The provider's id of the answer, from a header; NULL: none. */
const char *generate_answer_id(const struct machine *m);

#endif
