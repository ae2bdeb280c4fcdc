/* feed_http.h - events decoded from the body of an HTTP answer */
#ifndef RUN_FEED_HTTP_H
#define RUN_FEED_HTTP_H

#include "run/feed.h"

/* As attempt_open(): the request is encoded, the connection not yet made. */
struct feed *feed_http(struct arena *a, const allm_call *call,
                       const struct feed_env *env, struct allm_sink *sink);

#endif
