/*
 * retry.h - whether to try again, and when
 *
 * It only decides; whoever runs the call waits and acts.  A streaming call may
 * be tried again only while no byte of its answer has arrived: that, too, is
 * known there.
 */
#ifndef ENGINE_RETRY_H
#define ENGINE_RETRY_H

#include "base/arena.h"
#include "base/random.h"

/* A longer wait than this, asked for by a provider, is not ours to make: the
 * error is returned. */
#define RETRY_AFTER_CAP_MS 60000

/* A year: no delay is longer, so that it can be counted in nanoseconds. */
#define RETRY_LONGEST_MS   INT64_C(31536000000)

struct retry_policy {
    int64_t max_attempts;           /* in all; 1 or less: no retry */
    int64_t base_delay_ms;          /* doubled for every further attempt */
    int64_t max_delay_ms;           /* without the jitter */
    int64_t jitter_ms;              /* 0 up to this is added */
    bool respect_retry_after;
    const allm_json *retry_on;      /* numbers and words; NULL: the default */
};

/* 3 attempts, 500 ms doubling to 30 s, jitter 250 ms. */
struct retry_policy retry_default(void);

/*
 * A policy from "default", false, or the keys it changes, as an object or as
 * pairs; NULL, null, [] and {} are the default.  What it points to is borrowed
 * from `given`.  NULL, or the error (MISUSE), in the arena, that says what is
 * wrong.
 */
const allm_error *retry_policy_read(struct retry_policy *out,
                                    const allm_json *given, struct arena *a);

/* Is a failed call of a kind that the policy tries again? */
bool retry_matches(const struct retry_policy *p, const allm_error *error);

/*
 * May a call whose attempt number `attempt` (from 1) failed be tried again?
 * Then *delay_ms is how long to wait before.
 *
 * Only errors of adapters are tried again.  Those with metadata
 *      {"billing": true}       money is missing: waiting does not help
 *      {"final": true}         whoever made the error knows better
 * never are, nor is HTTP status 402.
 */
bool retry_decide(const struct retry_policy *p, int64_t attempt,
                  const allm_error *error, struct random random,
                  int64_t *delay_ms);

#endif
