/* retry_after.h - how long a provider asks to wait, in all spellings */
#ifndef ENGINE_RETRY_AFTER_H
#define ENGINE_RETRY_AFTER_H

#include "base/slice.h"

#include <stdint.h>

/*
 * Milliseconds from the value of a Retry-After header: seconds ("120",
 * "1.5"), a duration with units ("6m0s", "45.8s", "20ms"), or a date in any of
 * the three forms of HTTP, which is compared with the clock's time.  A date
 * that has passed gives 0.  False: none of these, and *ms is untouched.
 */
bool retry_after_parse(struct slice value, int64_t unix_ms, int64_t *ms);

/*
 * The same from one header, whatever its case: retry-after-ms and
 * x-ms-retry-after-ms (milliseconds), retry-after.  False for other names.
 */
bool retry_after_header(struct slice name, struct slice value, int64_t unix_ms,
                        int64_t *ms);

/* The first usable of all headers (name, value, name, value ...; `count`
 * pairs): the exact ones before retry-after. */
bool retry_after_find(const char *const *header, size_t count, int64_t unix_ms,
                      int64_t *ms);

#endif
