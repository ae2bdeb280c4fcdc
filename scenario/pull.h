/* pull.h - pull the events of a stream into the report */
#pragma once

#include "report.h"

/* Read the member `take`, the number of events to pull; -1: all. */
bool pull_take(struct scenario *s, const allm_json *op, int64_t *take);

/* Pull up to `most` events (negative: all) into the report and the reducer
 * (NULL: none).  Returns the status of the last pull; ALLM_EVENT: there may be
 * more. */
allm_status pull_events(struct report *r, allm_stream *stream, int64_t most,
                        allm_reducer *reducer);
