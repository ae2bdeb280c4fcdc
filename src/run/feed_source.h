/* feed_source.h - a feed whose adapter produces the events itself */
#pragma once

#include "run/feed.h"

/* Like attempt_open(). */
struct feed *feed_source(struct arena *a, const allm_adapter *adapter,
                         const allm_call *call, struct allm_sink *sink);
