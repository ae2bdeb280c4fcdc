/* event.h - the events of a stream, and their JSON form */
#pragma once

#include "data/decode.h"
#include "data/encode.h"

extern const struct shape event_shape;

/* Its JSON form: one object, "type" and "seq" first, without envelopes. */
void event_write(struct encoder *e, const allm_event *event);

/* NULL: it is not an event, or d->error is set. */
const allm_event *event_read(struct decoder *d, const allm_json *v);
