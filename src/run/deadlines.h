/* deadlines.h - when an answer is late */
#ifndef RUN_DEADLINES_H
#define RUN_DEADLINES_H

#include "loop/waker.h"
#include "run/call_plan_parts.h"

/*
 * The deadline for silence begins when content has come and the stream waits
 * again.  The time for which the stream is held does not count as silence.
 */
struct deadlines {
    int64_t began_ns;           /* the first pull */
    int64_t content_ns;         /* when content came last, or the attempt began */
    int64_t held_ns;            /* how long the stream was held until then */
    const int64_t
        *deadline_ns;     /* of the call that this is a part of; or NULL */
    bool has_content;
    bool has_new_content;                 /* content came since content_ns was set */
};

/* Content came, or is waited for from now on. */
void deadlines_restart(struct deadlines *d, const allm_waker *w,
                       int64_t now_ns);

/* When the whole call is late: this answer, or what it is a part of. */
int64_t deadlines_total(const struct deadlines *d, const struct terms *t);

/* When the wait ends.  While the stream is held only the whole call can be
 * late. */
int64_t deadlines_next(const struct deadlines *d, const struct terms *t,
                       const allm_waker *w);

/* Which of them has passed, as a message. */
const char *deadlines_message(const struct deadlines *d, const struct terms *t,
                              int64_t now_ns);

#endif
