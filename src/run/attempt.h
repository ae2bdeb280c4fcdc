/* attempt.h - one attempt at a call: open the feed that fits its adapter */
#ifndef RUN_ATTEMPT_H
#define RUN_ATTEMPT_H

#include "run/feed.h"

/*
 * Begin an attempt.  Memory comes from `a`, which outlives the feed.  NULL: it
 * failed; sink->failure says why, or there is no memory.
 */
struct feed *attempt_open(struct arena *a, const allm_call *call,
                          const struct feed_env *env, struct allm_sink *sink);
void attempt_close(struct feed *f);     /* NULL is fine */

#endif
