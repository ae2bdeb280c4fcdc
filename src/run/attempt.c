/* attempt.c - one attempt at a call: open the feed that fits its adapter */
#include "run/attempt.h"

#include "loop/waker.h"
#include "run/feed_http.h"
#include "run/feed_source.h"
#include "run/stream.h"

struct feed *attempt_open(struct arena *a, const allm_call *call,
                          const struct feed_env *env, struct allm_sink *sink)
{
    if (env->row->adapter->next)
        return feed_source(a, env->row->adapter, call, sink);
    return feed_http(a, call, env, sink);
}

void attempt_close(struct feed *f)
{
    if (f)
        f->ops->close(f);
}

bool attempt_pace(const struct call_plan *p, allm_stream *stream,
                  struct pacer_ticket **out)
{
    allm_pacer *pacer = engine_core(p->engine)->pacer;
    struct slice key = { NULL, 0 };
    *out = NULL;
    if (!pacer)
        return true;
    struct pacer_ticket *t = arena_zero(home_arena(p->home), sizeof *t);
    if (!t)
        return false;
    if (p->key)
        key = (struct slice){ p->key->ptr, p->key->len };
    t->ring = allm_waker_ring;
    t->waker = stream_waker(stream);
    if (!pacer_bind(t, pacer, p->call.provider, key, p->call.model))
        return false;
    *out = t;
    return true;
}

bool attempt_may_start(struct pacer_ticket *t, const allm_waker *w,
                       int64_t now_ns, int64_t *again_ns)
{
    *again_ns = INT64_MAX;
    if (!w->held)
        return pacer_ask(t, now_ns, again_ns);
    if (t->state == PACER_WAITING)
        pacer_leave(t);
    return t->state == PACER_SENT;
}
