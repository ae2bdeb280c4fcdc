/* deadlines.c - the timeouts of an answer */
#include "run/deadlines.h"

void deadlines_restart(struct deadlines *d, const allm_waker *w, int64_t now_ns)
{
    d->content_ns = now_ns;
    d->held_ns = w->held_ns;
    d->has_new_content = false;
}

int64_t deadlines_total(const struct deadlines *d, const struct terms *t)
{
    int64_t own = t->total_ms ? clock_after(d->began_ns, t->total_ms)
                              : INT64_MAX;
    return d->deadline_ns && *d->deadline_ns < own ? *d->deadline_ns : own;
}

int64_t deadlines_next(const struct deadlines *d, const struct terms *t,
                       const allm_waker *w)
{
    int64_t next =
        clock_after(clock_add(d->content_ns, w->held_ns - d->held_ns),
                    d->has_content ? t->silence_ms : t->first_ms);
    int64_t last = deadlines_total(d, t);
    return next < last && !w->held ? next : last;
}

const char *deadlines_message(const struct deadlines *d, const struct terms *t,
                              int64_t now_ns)
{
    if (now_ns >= deadlines_total(d, t))
        return "the answer did not complete in time; raise total_ms to wait "
               "longer";
    return d->has_content
               ? "the answer paused for too long; raise silence_ms to wait "
                 "longer"
               : "the answer did not begin in time; raise first_ms to wait "
                 "longer";
}
