/* write.h - write a JSON value as text; equal values give equal bytes */
#pragma once

#include "base/buf.h"

/* Append; false when out is broken.  flags: ALLM_JSON_PRETTY. */
bool json_write(struct buf *out, const allm_json *v, uint32_t flags);

/* Append a string as a JSON value, with quotes and escapes. */
bool json_write_text(struct buf *out, struct slice text);

/* Copy ASCII that needs no escaping to `at`; returns the end of the copy.  The
 * rest of *s begins with another byte. */
char *json_put_plain(char *at, struct slice *s);
