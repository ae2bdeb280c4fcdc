/* feed_source.h - events that an adapter makes itself */
#ifndef RUN_FEED_SOURCE_H
#define RUN_FEED_SOURCE_H

#include "run/feed.h"

/* As attempt_open(). */
struct feed *feed_source(struct arena *a, const allm_adapter *adapter,
                         const allm_call *call, struct allm_sink *sink);

#endif
