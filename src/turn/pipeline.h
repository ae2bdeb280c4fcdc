/* pipeline.h - the stages of a turn, and the function that runs them */
#pragma once

#include "turn/context.h"

/* The stock stages. */
allm_status parse_run(allm_context *c, void *ud);
allm_status validate_run(allm_context *c, void *ud);
allm_status budget_run(allm_context *c, void *ud);
allm_status dispatch_run(allm_context *c, void *ud);
allm_status inject_run(allm_context *c, void *ud);
allm_status decide_run(allm_context *c, void *ud);

/*
 * Run the stages from *at on.  EVENT: the context has events.  AGAIN: call
 * again at c->again_ns, or earlier if the waker is rung.  OK: all stages have
 * run.  < 0: a stage failed; the context has the error.
 */
allm_status pipeline_run(const allm_pipeline *p, allm_context *c, size_t *at);
