/*
 * retry.h - decide whether to retry, and when
 *
 * These functions only decide; the code that runs the call waits and retries.
 * It also knows whether a byte of the response has arrived, after which a
 * streaming call must not be retried.
 */
#pragma once

#include "base/arena.h"
#include "base/random.h"

/* If a provider demands a longer delay than this, we do not wait: the error is
 * returned. */
#define RETRY_AFTER_CAP_MS 60000

/* One year.  No delay is longer, so it can be expressed in nanoseconds. */
#define RETRY_LONGEST_MS   INT64_C(31536000000)

struct retry_policy {
    int64_t max_attempts;           /* in total; 1 or less: no retry */
    int64_t base_delay_ms;          /* doubled for each further attempt */
    int64_t max_delay_ms;           /* not counting the jitter */
    int64_t jitter_ms;              /* a random 0...jitter_ms is added */
    bool respect_retry_after;
    const allm_json *retry_on;      /* statuses and reasons; NULL: default */
};

/* 3 attempts, 500 ms doubling to 30 s, jitter 250 ms. */
struct retry_policy retry_default(void);

/*
 * Read a policy: "default", false, or the keys to change, as an object or as
 * pairs; NULL, null, [] and {} mean the default.  The policy borrows from
 * `value`.  Returns NULL, or a MISUSE error in the arena.
 */
const allm_error *retry_policy_read(struct retry_policy *out,
                                    const allm_json *value, struct arena *a);

/* Does the policy retry calls that fail with this error? */
bool retry_matches(const struct retry_policy *p, const allm_error *error);

/*
 * May a call be retried whose attempt number `attempt` (from 1) failed?  If so,
 * *delay_ms is how long to wait first.
 *
 * Only adapter errors are retried.  Errors with metadata
 *      {"billing": true}       no money left: waiting does not help
 *      {"final": true}         the code that made the error forbids it
 * are never retried, nor is HTTP status 402.
 */
bool retry_decide(const struct retry_policy *p, int64_t attempt,
                  const allm_error *error, struct random random,
                  int64_t *delay_ms);
