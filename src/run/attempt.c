/* attempt.c - one attempt at a call: open the feed that fits its adapter */
#include "run/attempt.h"

#include "run/feed_http.h"
#include "run/feed_source.h"

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
