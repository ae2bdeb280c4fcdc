/* attempt.h - one attempt at a call: open the feed that fits its adapter */
#pragma once

#include "run/call_plan_parts.h"
#include "run/feed.h"

/*
 * Begin an attempt.  Memory comes from `a`, which outlives the feed.  NULL: it
 * failed; sink->failure says why, or there is no memory.
 */
struct feed *attempt_open(struct arena *a, const allm_call *call,
                          const struct feed_env *env, struct allm_sink *sink);
void attempt_close(struct feed *f);     /* NULL is fine */

/* Make the ticket of a call, if its engine has a pacer: *out is NULL if not.
 * False: out of memory. */
bool attempt_pace(const struct call_plan *p, allm_stream *stream,
                  struct pacer_ticket **out);

/* May the attempt be sent?  If not, pull again at *again_ns, or when the waker
 * rings.  A stream that is held does not wait in the queue. */
bool attempt_may_start(struct pacer_ticket *t, const allm_waker *w,
                       int64_t now_ns, int64_t *again_ns);
