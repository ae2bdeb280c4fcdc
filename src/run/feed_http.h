/* feed_http.h - events decoded from the body of an HTTP response */
#pragma once

#include "run/feed.h"

/* Like attempt_open().  It encodes the request, but does not connect yet. */
struct feed *feed_http(struct arena *a, const allm_call *call,
                       const struct feed_env *env, struct allm_sink *sink);
