/* retry_after.h - parse how long a provider asks us to wait, in all forms */
#pragma once

#include "base/slice.h"

#include <stdint.h>

/*
 * Milliseconds from the value of a Retry-After header: seconds ("120", "1.5"),
 * a duration with units ("6m0s", "45.8s", "20ms"), or a date in any of HTTP's
 * three formats, compared with the clock.  A date in the past gives 0.  False:
 * none of these; *ms is unchanged.
 */
bool retry_after_parse(struct slice value, int64_t unix_ms, int64_t *ms);

/* The same for the end of a quota, which may also be a date as in RFC 3339. */
bool retry_after_reset(struct slice value, int64_t unix_ms, int64_t *ms);

/*
 * The same for one header, with its name in any case: retry-after-ms and
 * x-ms-retry-after-ms (milliseconds), retry-after.  False for other names.
 */
bool retry_after_header(struct slice name, struct slice value, int64_t unix_ms,
                        int64_t *ms);

/* The first usable header of a list (name, value, name, value ...; `count`
 * pairs).  The exact ones come before retry-after. */
bool retry_after_find(const char *const *header, size_t count, int64_t unix_ms,
                      int64_t *ms);
