/* deadlines.h - the timeouts of an answer */
#pragma once

#include "loop/waker.h"
#include "run/call_plan_parts.h"

/*
 * The silence timeout starts when content has arrived and the stream waits
 * again.  Time during which the caller holds the stream does not count.
 */
struct deadlines {
    int64_t began_ns;           /* time of the first pull */
    int64_t content_ns;         /* of the last content, or of the attempt */
    int64_t held_ns;            /* how long the stream had been held by then */
    const int64_t *deadline_ns; /* of the whole call; or NULL */
    bool has_content;
    bool has_new_content;       /* content arrived since content_ns was set */
};

/* Restart the timeout for first content or silence. */
void deadlines_restart(struct deadlines *d, const allm_waker *w,
                       int64_t now_ns);

/* The deadline of the whole call, of which this answer may be a part. */
int64_t deadlines_total(const struct deadlines *d, const struct terms *t);

/* When the current wait times out.  While the stream is held, only the deadline
 * of the whole call applies. */
int64_t deadlines_next(const struct deadlines *d, const struct terms *t,
                       const allm_waker *w);

/* The error message for the timeout that has expired. */
const char *deadlines_message(const struct deadlines *d, const struct terms *t,
                              int64_t now_ns);
