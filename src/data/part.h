/* part.h - one part of a message: a text or an image */
#pragma once

#include "data/decode.h"
#include "data/encode.h"

extern const struct shape part_shape;

/* Write a part in either form.  The plain form is flat:
 *   {"type": "text", "text": ...}
 *   {"type": "image", "source": ..., "mime_type": ..., "detail": ...} */
void part_write(struct encoder *e, const allm_part *part);

/* Read any JSON value as a part: one that is not ours becomes an OTHER that
 * keeps it.  NULL: d->error is set. */
const allm_part *part_read(struct decoder *d, const allm_json *v);

/* What a part lacks, as a message; NULL if nothing. */
const char *part_fault(const allm_part *part);
