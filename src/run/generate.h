/* generate.h - one answer of a model: the machine behind every call */
#pragma once

#include "engine/engine.h"
#include "run/call_plan.h"
#include "run/collect.h"
#include "run/machine.h"

/*
 * Check and open a call.  NULL: out of memory.  If the call cannot begin, the
 * machine fails at its first next(), and error() returns the reason at once.
 * Events are folded into the caller's `collect`, or into a fold of the machine
 * if it is NULL.  The result of a task is its single raw_chunk event.  The
 * stream must outlive the machine.
 */
struct machine *generate_open(const allm_engine *e,
                              const struct call_spec *spec,
                              struct collect *collect, allm_stream *stream);

/* The provider's id of the answer, from a header; NULL if there is none. */
const char *generate_answer_id(const struct machine *m);
