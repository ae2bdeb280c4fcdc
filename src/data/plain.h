/* plain.h - write free-form JSON without the envelopes in it */
#pragma once

#include "json/emit.h"

/* Write v with each of our envelopes replaced by its data; errors get a
 * "kind". */
void plain_write(struct emit *e, const allm_json *v);
